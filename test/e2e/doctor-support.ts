import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { expect, onTestFinished } from 'vitest';
import { setupTemporal } from '../../src/temporal/namespace.ts';
import { eventually } from '../support/index.ts';
import { runCommand } from '../support/run-command.ts';

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

/** Serves until the test is over. @returns its address */
export async function serve(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void http.close());
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
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
  await eventually(
    async () => {
      await workflowService.countWorkflowExecutions({ namespace, query: 'WorkflowType is null' });
    },
    { timeoutMs: 30_000 },
  );
  return namespace;
}

/** A file that is there until the test is over. @returns its path */
export async function aFile(content: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'order-screening-doctor-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, 'policy.json');
  await writeFile(file, content);
  return file;
}

/** A namespace as orders need it. Orders of other tests, in other namespaces, are encrypted with other keys. */
export async function aReadyNamespace(connection: Connection): Promise<string> {
  const namespace = await aNamespace(connection);
  await setupTemporal(connection, namespace);
  return namespace;
}
