/** What a reader sees of calls that fail again and again, in a whole deployment with encryption. */
import { afterEach, expect, it } from 'vitest';
import type { Operation } from '../../../src/sandbox/model.ts';
import { createDataConverter } from '../../../src/starter.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { aPayloadKey, withDeployment } from '../support.ts';

const { payloadKey, env } = aPayloadKey();
const server = withTestServer({ dataConverter: createDataConverter([payloadKey]) });
const all = withDeployment(server, { default: {} }, { env });
const outage = (...operations: Operation[]) =>
  all.sandbox.control.setFaults({
    faults: operations.map((operation) => ({ operation, kind: '5xx-before-commit' as const })),
  });
afterEach(() => void all.sandbox.control.clearFaults());

const listed = (orderId: string) =>
  eventually(async () => {
    const { body } = await all.call('GET', `/v1/orders?find=${orderId}`);
    expect(body.orders).toHaveLength(1);
    return body.orders[0];
  });

it('two portal actions that fail have their tries, errors and next times, each its own', async () => {
  const orderId = await all.inReview();
  outage('cancel-transaction', 'report-fraud');
  const ask = (what: string) => all.call('POST', `/v1/orders/${orderId}/${what}`, {});
  const failing = (count: number) =>
    all.until(orderId, ({ actions }) => {
      const failed = actions.filter(({ tries = 0 }: { tries?: number }) => tries >= 2);
      return failed.length === count;
    });
  const asks = [ask('cancel')];
  await failing(1);
  asks.push(ask('report-fraud'));
  const { actions } = await failing(2);
  expect(actions).toMatchObject([
    { kind: 'cancel', status: 'running', lastError: expect.stringMatching(/^cancel-transaction .*HTTP 5/) },
    { kind: 'report-fraud', status: 'running', lastError: expect.stringMatching(/^report-fraud .*HTTP 5/) },
  ]);
  // A list asks about actions that take long.
  await eventually(async () =>
    expect((await listed(orderId)).actions).toMatchObject([
      { number: 1, kind: 'cancel', tries: expect.any(Number), lastError: expect.any(String) },
      { number: 2, kind: 'report-fraud', tries: expect.any(Number) },
    ]),
  );
  all.sandbox.control.clearFaults();
  expect((await Promise.all(asks)).map(({ status }) => status)).toEqual([200, 200]);
  const ended = await all.read(orderId);
  for (const action of ended.actions) expect(action).not.toHaveProperty('tries');
}, 60_000);
