/** What the log says when the service, or a receiver of events, doesn't do what it is asked: why, and nothing that is secret. */
import { noopMetricMeter } from '@temporalio/common';
import { expect, it, vi } from 'vitest';
import { createEventSender } from '../../src/activities/index.ts';
import { eventToSend } from '../../src/order/events.ts';
import { temporalLogger } from '../../src/platform/temporal-logger.ts';
import { NOBODY } from '../fixtures/integrations.ts';
import { announced, anOrder } from '../fixtures/orders.ts';
import { aLog } from '../platform/a-log.ts';
import {
  aCheckout,
  aWorld,
  checkOut,
  KEY,
  perform,
  plan,
  sandbox,
  TASK_LOST,
  withSandbox,
} from './support.ts';

withSandbox();

function aLogger() {
  const { log, lines } = aLog();
  return { lines, logger: temporalLogger(log) };
}

it('says that the service is not there: whom it was, what was asked of it, and why there is no answer', async () => {
  const { lines, logger } = aLogger();
  await checkOut(aWorld({ baseUrl: `${NOBODY}/secret-path` }), aCheckout(), { logger });
  expect(lines).toMatchObject([
    {
      level: 40,
      msg: 'the screening service does not answer',
      integration: 'default',
      call: 'create-transaction',
      reason: 'connection-refused',
      address: new URL(NOBODY).host,
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/canary|secret-path/);
});

it.each([
  ['5xx-before-commit', 40, 'the screening service answers with an error'],
  ['403', 50, 'the screening service does not accept our API key'],
] as const)('says that the service answers with %s', async (kind, level, msg) => {
  const { lines, logger } = aLogger();
  plan('create-transaction', kind);
  await checkOut(aWorld(), aCheckout(), { logger });
  expect(lines[0]).toMatchObject({ level, msg, address: new URL(sandbox.url).host });
  expect(JSON.stringify(lines)).not.toContain(KEY);
});

it('counts each call with a wrong key, by its operation: a lookup as a create', async () => {
  const add = vi.fn();
  const createCounter = (name: string) =>
    name === 'order_screening_wrong_key_total' ? { add } : noopMetricMeter.createCounter(name);
  const metricMeter = Object.assign(Object.create(noopMetricMeter), { createCounter });
  plan('status-by-invoice', '403');
  await checkOut(aWorld(), aCheckout(), { ...TASK_LOST, metricMeter });
  plan('create-transaction', '403');
  await checkOut(aWorld(), aCheckout(), { metricMeter });
  expect(add.mock.calls).toMatchObject([
    [1, { integration: 'default', operation: 'status-by-invoice' }],
    [1, { integration: 'default', operation: 'create-transaction' }],
  ]);
});

it('is silent about an order that the service does not know, as it is about one that it refuses', async () => {
  const { lines, logger } = aLogger();
  await checkOut(aWorld({ checkoutBudgetMs: 1_500 }), aCheckout(), { ...TASK_LOST, logger });
  expect(lines).toEqual([]);
});

it('says that the receiver of events is not there: host and port, and why', async () => {
  const { lines, logger } = aLogger();
  const events = { own: new Map(), common: createEventSender(`${NOBODY}/a-secret-path`, ['whsec_AAAA']) };
  const state = anOrder('pass', { events: 'all' });
  const event = eventToSend(state, announced(state, 'order.decided', 0));
  const delivery = perform(aWorld({}, { events }).background.deliverEvents, [event], { logger });
  await expect(delivery).rejects.toThrow('did not answer');
  const why = { reason: 'connection-refused', address: new URL(NOBODY).host };
  expect(lines[0]).toMatchObject({ msg: 'the events receiver did not accept an event', ...why });
  expect(JSON.stringify(lines)).not.toContain('secret');
});
