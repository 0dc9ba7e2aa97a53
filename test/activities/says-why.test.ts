/** What the log says when the service, or a receiver of events, doesn't do what it is asked: why, and nothing that is secret. */
import { expect, it, test } from 'vitest';
import { createEventSender } from '../../src/activities/index.ts';
import type { OrderEvent } from '../../src/contract/messages.ts';
import { createLog } from '../../src/process/log.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { temporalLogger } from '../../src/temporal/runtime.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  KEY,
  ORDER_ID,
  perform,
  sandbox,
  TASK_LOST,
  withSandbox,
} from './support.ts';

withSandbox();

function aLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('worker', 'trace', { write: (line) => void lines.push(JSON.parse(line)) });
  return { lines, logger: temporalLogger(log) };
}

/** Where nobody listens. */
async function nobody(): Promise<string> {
  const gone = await createSandbox({ port: 0 });
  await gone.close();
  return gone.url;
}

test('the service is not there: whom it was, what was asked of it, and why there is no answer', async () => {
  const { lines, logger } = aLog();
  const url = await nobody();
  const world = aWorld({ baseUrl: `${url}/secret-path` });
  const { outcome } = await checkOut(world, aCheckout(), { logger });
  expect(outcome).toMatchObject({ kind: 'unanswered', reason: 'connection-refused' });
  expect(lines).toMatchObject([
    {
      level: 40,
      msg: 'the screening service does not answer',
      integration: 'default',
      call: 'create-transaction',
      reason: 'connection-refused',
      address: new URL(url).host,
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/canary|secret-path/);
});

test.each([
  [
    '5xx-before-commit',
    { level: 40, msg: 'the screening service answers with an error', reason: 'http-5xx' },
  ],
  ['403', { level: 50, msg: 'the screening service does not accept our API key', status: 403 }],
] as const)('the service answers with %s', async (kind, line) => {
  const { lines, logger } = aLog();
  sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind }] });
  await checkOut(aWorld(), aCheckout(), { logger });
  expect(lines[0]).toMatchObject({ ...line, address: new URL(sandbox.url).host });
  expect(JSON.stringify(lines)).not.toContain(KEY);
});

it('is silent about an order that the service does not know, as it is about one that it refuses', async () => {
  const { lines, logger } = aLog();
  await checkOut(aWorld({ checkoutBudgetMs: 500 }), aCheckout(), { ...TASK_LOST, logger });
  expect(lines).toEqual([]);
});

test('the receiver of events is not there: host and port, and why', async () => {
  const { lines, logger } = aLog();
  const url = await nobody();
  const events = { own: new Map(), common: createEventSender(`${url}/a-secret-path`, ['whsec_AAAA']) };
  const event: OrderEvent = {
    id: 'id',
    type: 'order.closed',
    orderId: ORDER_ID,
    integration: 'default',
    sequence: 1,
    occurredAt: new Date().toISOString(),
    data: { attention: [] },
  };
  const { background } = aWorld({}, { events });
  await expect(perform(background.deliverEvents, [event], { logger })).rejects.toThrow('did not answer');
  expect(lines[0]).toMatchObject({
    msg: 'the events receiver did not accept an event',
    integration: 'default',
    reason: 'connection-refused',
    address: new URL(url).host,
  });
  expect(JSON.stringify(lines)).not.toContain('secret');
});
