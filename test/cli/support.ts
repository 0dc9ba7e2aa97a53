import type { Command } from 'commander';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';
import { fakeOrderScreening } from '../server/api/fake-order-screening.ts';
import { runCommand } from '../support/processes/run-command.ts';

export type Fake = ReturnType<typeof fakeOrderScreening>;

/** Runs a command over a client library that answers as a test sets it. */
export async function run(args: string | readonly string[], set: (orders: Fake) => void = () => undefined) {
  const orders = fakeOrderScreening();
  set(orders);
  const words = typeof args === 'string' ? args.split(' ') : args;
  return { ...(await runCommand(words, { env: {}, withOrders: (use) => use(orders) })), orders };
}

/** The program without a way to Temporal. */
export function aProgram(): Command {
  const output = createOutput(true, () => undefined);
  const withOrders = () => Promise.reject(new Error('no connection is needed for this'));
  return createProgram({ env: {}, output, withOrders });
}
