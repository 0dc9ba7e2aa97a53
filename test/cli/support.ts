import type { Command } from 'commander';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';
import type { ActionRecord } from '../../src/contract/state.ts';
import { fakeOrderScreening } from '../api/fake-order-screening.ts';
import { runCommand } from '../support/run-command.ts';

export type Fake = ReturnType<typeof fakeOrderScreening>;

/** Runs a command over a client library that answers as a test wants it. */
export async function run(args: readonly string[], set: (orders: Fake) => void = () => undefined) {
  const orders = fakeOrderScreening();
  set(orders);
  return { ...(await runCommand(args, { env: {}, withOrders: (use) => use(orders) })), orders };
}

/** The program without a way to Temporal. */
export function aProgram(): Command {
  return createProgram({
    env: {},
    output: createOutput(true, () => undefined),
    withOrders: () => Promise.reject(new Error('no connection is needed for this')),
  });
}

/** A portal action that was asked for, and is done. */
export const asked: ActionRecord = {
  number: 7,
  kind: 'chargeback',
  subject: 'x',
  status: 'done',
  by: 'caller',
  requestedAt: '2026-03-01T10:00:00.000Z',
};
