import { randomBytes } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect } from 'vitest';
import { eventually, serve, signedReceiver } from '../../support/index.ts';
import { runCommand } from '../../support/processes/run-command.ts';

/** As `doctor --json` writes it. */
export interface Finding {
  check: string;
  status: string;
  what: string;
  todo?: string;
}

/** What a finding must say, and what to do about it. */
export function fault(check: string, what: string | RegExp, todo: string | RegExp) {
  return { check, status: 'error', what: expect.stringMatching(what), todo: expect.stringMatching(todo) };
}

export function warning(...given: Parameters<typeof fault>) {
  return { ...fault(...given), status: 'warning' };
}

/** Serves a screening service whose clock is ten minutes ahead. @returns its address */
export function serviceAhead(): Promise<string> {
  return serve((_request, response) => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    response.writeHead(404, { date, 'content-type': 'application/json' });
    response.end(JSON.stringify({ Errors: ['Transaction Not Found'] }));
  });
}

/** Serves a receiver of events that knows none of our secrets. @returns its address, which has a secret of its own */
export async function receiverOfAnotherSecret(): Promise<string> {
  const url = await signedReceiver(`whsec_${randomBytes(24).toString('base64')}`);
  return `${url}/events?token=token-of-the-receiver`;
}

/** Runs the doctor with these settings beside the environment's. @returns its findings, what it wrote, and what it ended with */
export async function examine(settings: NodeJS.ProcessEnv, ...args: string[]) {
  const env = { ...process.env, ...settings };
  const withOrders = () => Promise.reject(new Error('it asks for no order'));
  const { code, answers } = await runCommand(['doctor', ...args], { env, withOrders });
  const [answer] = answers;
  const findings: Finding[] = answer.findings;
  return { code, findings, printed: JSON.stringify(answer) };
}

/** A namespace of its own, without anything in it. */
export async function aNamespace(connection: Connection): Promise<string> {
  const namespace = `doctor-${randomBytes(4).toString('hex')}`;
  const { workflowService } = connection;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('90 days') });
  const query = 'WorkflowType is null';
  await eventually(() => workflowService.countWorkflowExecutions({ namespace, query }), {
    timeoutMs: 30_000,
  });
  return namespace;
}
