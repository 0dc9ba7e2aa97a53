import { describe, expect, it } from 'vitest';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import { LATE_DECISIONS } from '../../../src/order/after-end.ts';
import { aClosedOrder, CLOSED_TRANSACTION, HOUR } from '../../fixtures/orders.ts';
import { aPortalAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, described, failed, gone, listing, UNREADABLE, unavailable } from '../fake-temporal.ts';

const order = { orderId: 'order-1' };
const ENDED_AT = '2026-03-06T10:00:00.000Z';
const HASH = '0123456789abcdef';
const REPORT = `portal:default:report-fraud:${CLOSED_TRANSACTION}`;
const hours = (count: number) => new Date(Date.parse(ENDED_AT) + count * HOUR).toISOString();

/** A run in the list of workflows; its times are hours after the order's end. `closed` absent: it runs. */
function aRun(workflowId: string, started: number, closed?: number, status = closed === undefined ? 1 : 2) {
  const at = (count: number) => ({ seconds: Date.parse(hours(count)) / 1_000, nanos: 0 });
  const closeTime = closed === undefined ? null : at(closed);
  return { execution: { workflowId, runId: `run-${started}` }, status, startTime: at(started), closeTime };
}

/** A client of one closed order. @param decisions those that were read after its end */
function aClosed(runs: ReturnType<typeof aRun>[] = [], decisions?: unknown) {
  const client = aClient();
  const { temporal } = client;
  temporal.describe.mockImplementation(async (workflowId: string) => {
    if (!workflowId.startsWith('after:')) return described('COMPLETED');
    if (decisions === undefined) throw gone;
    return { ...described('COMPLETED'), memo: { [LATE_DECISIONS]: decisions } };
  });
  temporal.record.mockResolvedValue(aClosedOrder({}, { endedAt: ENDED_AT }));
  temporal.listWorkflowExecutions.mockResolvedValue(listing(...runs));
  const afterEnd = async () => (await client.orderScreening.get(order)).afterEnd;
  return { temporal, afterEnd };
}

// A whole deployment shows the same: test/e2e/orders/after-end.test.ts.
describe('what came after an order’s end', () => {
  it('is not asked for while the order is open', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.describe.mockResolvedValue(described('RUNNING'));
    await orderScreening.get(order);
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it('is shown of an order that was terminated, too, which recorded no end', async () => {
    const { temporal, afterEnd } = aClosed([aRun(REPORT, 25)]);
    temporal.describe.mockImplementation(async (workflowId: string) => {
      if (workflowId.startsWith('after:')) throw gone;
      return described('TERMINATED');
    });
    temporal.record.mockResolvedValue(aClosedOrder());
    expect(await afterEnd()).toMatchObject({ actions: [{ kind: 'report-fraud', status: 'running' }] });
  });

  it('has later decisions, actions and redeliveries with their times, oldest first', async () => {
    const transactionId = CLOSED_TRANSACTION;
    const late = { decision: 'fail', transactionId, attempt: 1, action: 'cancel', at: hours(1) };
    const runs = [
      aRun('redelivery:default:order-1:2', 5, 6),
      aRun('redelivery:default:order-1:12', 4, 5, 3),
      aRun(`portal:default:chargeback:${transactionId}:${HASH}`, 3),
      aRun(REPORT, 1, 2),
    ];
    const { temporal, afterEnd } = aClosed(runs, [late]);
    temporal.result.mockResolvedValue(aPortalAnswer({ message: 'Reported' }));
    const result = { status: 'done', code: '200', message: 'Reported' };
    expect(await afterEnd()).toEqual({
      decisions: [late],
      actions: [
        { kind: 'report-fraud', transactionId, requestedAt: hours(1), finishedAt: hours(2), ...result },
        { kind: 'chargeback', transactionId, requestedAt: hours(3), status: 'running' },
      ],
      redeliveries: [
        { sequence: 12, status: 'undelivered', requestedAt: hours(4), finishedAt: hours(5) },
        { sequence: 2, status: 'delivered', requestedAt: hours(5), finishedAt: hours(6) },
      ],
    });
  });

  it('has the failed tries of an action that is running', async () => {
    const { temporal, afterEnd } = aClosed([aRun(REPORT, 1)]);
    const lastFailure = { message: 'activity Heartbeat timeout' };
    const pendingActivities = [{ activityType: { name: 'performPortalAction' }, attempt: 4, lastFailure }];
    const running = { ...described('RUNNING'), raw: { pendingActivities } };
    temporal.describe.mockImplementation(async (workflowId: string) => {
      if (workflowId.startsWith('after:')) throw gone;
      return workflowId === REPORT ? running : described('COMPLETED');
    });
    expect((await afterEnd())?.actions).toMatchObject([
      { status: 'running', tries: 3, lastError: 'activity Heartbeat timeout' },
    ]);
  });

  it('has nothing of other orders whose ids begin the same, and nothing from before the end', async () => {
    const { afterEnd } = aClosed([
      aRun('redelivery:default:order-1:2:5', 1, 2),
      aRun(`portal:default:customer-code:order-1:2:${HASH}`, 1, 2),
      aRun(`portal:default:customer-code:order-10:${HASH}`, 1, 2),
      aRun('redelivery:default:order-1:1', -2, -1),
    ]);
    expect(await afterEnd()).toBeUndefined();
  });

  const said = { serviceCode: '404', serviceMessage: 'No.' };
  it.each([
    ['refused-by-screening-service', said, { status: 'refused', code: '404', message: 'No.' }],
    ['cancel-window-closed', {}, { status: 'too-late' }],
    ['action-not-sent', {}, { status: 'not-sent' }],
    ['outcome-unknown', {}, { status: 'unconfirmed' }],
  ] as const)('names an action that failed as %s', async (code, details, action) => {
    const { temporal, afterEnd } = aClosed([aRun(REPORT, 1, 2, 3)]);
    temporal.result.mockRejectedValue(failed(code, details));
    expect((await afterEnd())?.actions).toMatchObject([action]);
  });

  it.each([
    ['done', 2, unavailable, true],
    ['done', 2, new PayloadCodecError('unknown-payload-key', 'key-1'), true],
    ['unconfirmed', 3, unavailable, true],
    // It was terminated: nobody knows more.
    ['unconfirmed', 5, failed(), undefined],
  ])(
    'has an action as %s, whose run has the status %i, when its result is %s; incomplete: %s',
    async (...row) => {
      const [status, ended, error, incomplete] = row;
      const { temporal, afterEnd } = aClosed([aRun(REPORT, 1, 2, ended)]);
      temporal.result.mockRejectedValue(error);
      const shown = await afterEnd();
      expect(shown).toMatchObject({ actions: [{ status }] });
      expect(shown?.incomplete).toBe(incomplete);
    },
  );

  it('is incomplete when the list of workflows cannot be asked or has more, or later decisions cannot be decrypted; the order is read all the same', async () => {
    const unlisted = aClosed();
    unlisted.temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    expect(await unlisted.afterEnd()).toMatchObject({ incomplete: true });
    expect(await aClosed([], UNREADABLE).afterEnd()).toMatchObject({ decisions: [], incomplete: true });
    const more = aClosed();
    more.temporal.listWorkflowExecutions.mockResolvedValue({ ...listing(), nextPageToken: [1] });
    expect(await more.afterEnd()).toMatchObject({ incomplete: true });
  });
});
