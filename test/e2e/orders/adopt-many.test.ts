/** A merchant comes over with many open reviews. */
import { afterAll, expect, it } from 'vitest';
import { eventually, someAtATime, withTestServer } from '../../support/index.ts';
import { ago, screenedByPlugin } from '../operator.ts';
import { anOrderId, withDeployment } from '../support.ts';

/** Twice as many as a worker's cache holds. */
const EACH_WAY = 500;
const AT_A_TIME = 20;
/** For what hangs: beside other programs it all takes minutes. */
const HANGS = { timeoutMs: 480_000, intervalMs: 500 };

const server = withTestServer();
const all = withDeployment(
  server,
  {
    default: { poll: { first: '1h', factor: 1, max: '1h' } },
    polled: { poll: { first: '5s', factor: 1, max: '5s' } },
  },
  // At the usual 20 a second all would wait for the polls.
  { env: { SCREENING_MAX_RPS: '200' } },
);
let over = false;
let supervised: Promise<void> | undefined;
afterAll(async () => {
  over = true;
  await all.worker().stop();
  await supervised;
});

/** As any supervisor does, for a worker that the SDK makes lose an order (`untilEndedOrLost`). */
async function superviseWorker(): Promise<void> {
  while (!over) {
    await all.worker().ended;
    if (!over) await all.startWorker();
  }
}

it('adopted reviews resolve, half by webhook and half by poll', async () => {
  supervised = superviseWorker();
  const reviews = ['default', 'polled'].flatMap((integration) =>
    Array.from({ length: EACH_WAY }, () => ({ orderId: anOrderId(), integration })),
  );
  await someAtATime(AT_A_TIME, reviews, async ({ orderId, integration }) => {
    const transactionId = await screenedByPlugin(all, orderId);
    const body = { integration, transactionId, screenedAt: ago(60_000) };
    // Of a busy machine the answer may be a 503, after which a caller sends the same again.
    await eventually(async () => {
      const { status, body: answer } = await all.call('POST', `/v1/orders/${orderId}/adopt`, body);
      expect([status, answer]).toEqual([200, expect.objectContaining({ phase: 'review' })]);
    }, HANGS);
  });
  const { control } = all.sandbox;
  control.setWebhooks({ enabled: false });
  for (const { orderId, integration } of reviews)
    if (integration === 'polled') control.decide(orderId, 'pass');
  control.setWebhooks({ enabled: true });
  await someAtATime(AT_A_TIME, reviews, async ({ orderId, integration }) => {
    // The sandbox sends a webhook once: of hundreds at the same moment some would be answered by 503, and left to a poll.
    if (integration === 'default') control.decide(orderId, 'pass');
    await eventually(async () => {
      const source = integration === 'default' ? 'webhook' : 'poll';
      const passed = { decision: 'pass', phase: 'decided', lastRead: { source } };
      expect(await all.read(orderId, integration)).toMatchObject(passed);
    }, HANGS);
  });
  const creates = control.ledger({ operation: 'create-transaction' });
  expect(creates).toHaveLength(reviews.length);
}, 900_000);
