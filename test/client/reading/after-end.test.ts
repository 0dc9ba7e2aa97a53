import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { reportedAfterEnd } from '../../../src/client/reading/after-end.ts';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import type { LateDecision } from '../../../src/contract/order/order.ts';
import { LATE_DECISIONS } from '../../../src/order/after-end.ts';
import { aClosedOrder, CLOSED_TRANSACTION, HOUR } from '../../fixtures/orders.ts';
import { aPortalAnswer } from '../../server/api/fake-order-screening.ts';
import {
  aClient,
  aClientOf,
  described,
  ENCRYPTED,
  failed,
  gone,
  listing,
  unavailable,
} from '../fake-temporal.ts';

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

/** A request for a list of workflows. */
interface Asked {
  query: string;
  pageSize: number;
}

interface Given {
  record?: ReturnType<typeof aClosedOrder>;
  runs?: ReturnType<typeof aRun>[];
  /** Those that earlier reads after its end found. */
  decisions?: unknown;
  /** Its portal actions after the end, as the server describes each. */
  report?: object;
}

/** A client of one closed order. */
function aClosed({
  record = aClosedOrder({}, { endedAt: ENDED_AT }),
  runs = [],
  decisions,
  report,
}: Given = {}) {
  const client = aClientOf(record, 'COMPLETED');
  const { temporal } = client;
  temporal.listWorkflowExecutions.mockResolvedValue(listing(...runs));
  temporal.describe.mockImplementation(async (workflowId: string) => {
    if (workflowId.startsWith('portal:') && report !== undefined) return report;
    if (workflowId.startsWith('order:')) return described('COMPLETED');
    if (decisions === undefined || !workflowId.startsWith('after:')) throw gone;
    return described('COMPLETED', { memo: { [LATE_DECISIONS]: decisions } });
  });
  const afterEnd = async () => (await client.orderScreening.get(order)).afterEnd;
  const started = () =>
    temporal.signalWithStart.mock.calls.map((call) => {
      const [type, options] = call as unknown as [string, object];
      return { type, ...options };
    });
  return { ...client, afterEnd, started };
}

// A whole deployment shows the same: test/e2e/orders/after-end.test.ts.
describe('what came after an order’s end', () => {
  it('is not asked for while the order is open', async () => {
    const { orderScreening, temporal } = aClientOf(aClosedOrder());
    await orderScreening.get(order);
    expect(temporal.listWorkflowExecutions).not.toHaveBeenCalled();
  });

  it('is shown of an order that was terminated, too, which recorded no end', async () => {
    const { temporal, afterEnd } = aClosed({ record: aClosedOrder(), runs: [aRun(REPORT, 25)] });
    temporal.describe.mockResolvedValueOnce(described('TERMINATED'));
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
    const { temporal, afterEnd } = aClosed({ runs, decisions: [late], report: described('RUNNING') });
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
    const lastFailure = { message: 'activity Heartbeat timeout' };
    const pendingActivities = [{ activityType: { name: 'performPortalAction' }, attempt: 4, lastFailure }];
    const report = described('RUNNING', { pendingActivities });
    const { afterEnd } = aClosed({ runs: [aRun(REPORT, 1)], report });
    expect((await afterEnd())?.actions).toMatchObject([
      { status: 'running', tries: 3, lastError: 'activity Heartbeat timeout' },
    ]);
  });

  it('has nothing of other orders whose ids begin the same, and nothing from before the end', async () => {
    const runs = [
      aRun('redelivery:default:order-1:2:5', 1, 2),
      aRun(`portal:default:customer-code:order-1:2:${HASH}`, 1, 2),
      aRun(`portal:default:customer-code:order-10:${HASH}`, 1, 2),
      aRun('redelivery:default:order-1:1', -2, -1),
    ];
    expect(await aClosed({ runs }).afterEnd()).toBeUndefined();
  });

  const said = { serviceCode: '404', serviceMessage: 'No.' };
  it.each([
    ['refused-by-screening-service', said, { status: 'refused', code: '404', message: 'No.' }],
    ['cancel-window-closed', {}, { status: 'too-late' }],
    ['action-not-sent', {}, { status: 'not-sent' }],
    ['outcome-unknown', {}, { status: 'unconfirmed' }],
  ] as const)('names an action that failed as %s', async (code, details, action) => {
    const { temporal, afterEnd } = aClosed({ runs: [aRun(REPORT, 1, 2, 3)] });
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
      const { temporal, afterEnd } = aClosed({ runs: [aRun(REPORT, 1, 2, ended)] });
      temporal.result.mockRejectedValue(error);
      const shown = await afterEnd();
      expect(shown).toMatchObject({ actions: [{ status }] });
      expect(shown?.incomplete).toBe(incomplete);
    },
  );

  it('is found beside what came after 150 orders whose ids begin the same', async () => {
    const ids = Array.from({ length: 150 }, (_, n) => `portal:default:customer-code:order-1${n}:${HASH}`);
    const runs = [...ids, `portal:default:customer-code:order-1:${HASH}`, REPORT].map((id) => aRun(id, 1));
    const { temporal, afterEnd } = aClosed({ report: described('RUNNING') });
    temporal.listWorkflowExecutions.mockImplementation((async ({ query, pageSize }: Asked) => {
      const asked = [...query.matchAll(/WorkflowId (=|STARTS_WITH) '([^']*)'/g)];
      const isAsked = (id: string) =>
        asked.some(([, how, text = '']) => (how === '=' ? id === text : id.startsWith(text)));
      const found = runs.filter(({ execution }) => isAsked(execution.workflowId));
      return {
        ...listing(...found.slice(0, pageSize)),
        ...(found.length > pageSize && { nextPageToken: [1] }),
      };
    }) as never);
    const shown = await afterEnd();
    expect(shown).toMatchObject({ actions: [{ kind: 'customer-code' }, { kind: 'report-fraud' }] });
    expect(shown).not.toHaveProperty('incomplete');
  });

  it('is incomplete when the list of workflows cannot be asked or has more, or later decisions cannot be decrypted; the order is read all the same', async () => {
    const unlisted = aClosed();
    unlisted.temporal.listWorkflowExecutions.mockRejectedValue(unavailable);
    expect(await unlisted.afterEnd()).toMatchObject({ incomplete: true });
    expect(await aClosed({ decisions: ENCRYPTED }).afterEnd()).toMatchObject({
      decisions: [],
      incomplete: true,
    });
    const more = aClosed();
    more.temporal.listWorkflowExecutions.mockResolvedValue({ ...listing(), nextPageToken: [1] });
    expect(await more.afterEnd()).toMatchObject({ incomplete: true });
  });
});

describe('a hint or a recheck for a closed order', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const hint = { ...order, source: 'webhook' };

  it('starts a read of its status, which goes on from what earlier reads found', async () => {
    const late: LateDecision = {
      decision: 'fail',
      transactionId: CLOSED_TRANSACTION,
      attempt: 1,
      action: 'cancel',
      at: '2026-03-07T11:00:00.000Z',
      event: { sequence: 3, status: 'delivered' },
    };
    const { orderScreening, started } = aClosed({ decisions: [late] });
    expect(await orderScreening.recheck(order)).toEqual({ status: 'requested' });
    expect(started()).toMatchObject([
      {
        type: 'readAfterEnd',
        workflowId: 'after:default:order-1',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        args: [{ order: { orderId: 'order-1' }, decisions: [late] }],
        memo: { [LATE_DECISIONS]: [late] },
      },
    ]);
  });

  it.each([
    ['that is running', 'RUNNING', undefined, '2026-03-01T10:00:00.000Z'],
    ['that an operator ended', 'TERMINATED', failed(), '2026-03-01T10:00:00.000Z'],
    ['whose outcome is unknown', 'FAILED', failed('outcome-unknown'), '2026-03-01T10:00:00.000Z'],
    ['that was refused', 'FAILED', failed('refused-by-screening-service'), undefined],
  ] as const)('finds a fraud report after the end %s', async (_what, status, result, reportedAt) => {
    const { client, temporal } = aClosed({ report: described(status) });
    temporal.result.mockRejectedValue(result);
    const found = await reportedAfterEnd({ client }, 'default', CLOSED_TRANSACTION.toUpperCase());
    expect(found).toBe(reportedAt);
    expect(temporal.describe).toHaveBeenCalledWith(REPORT);
  });

  it('reads nothing of an order without a transaction or a record, or of none', async () => {
    const without = aClosed({ record: aClosedOrder({}, { transactions: [] }) });
    const unrecorded = aClosed();
    unrecorded.temporal.result.mockRejectedValue(failed());
    for (const [{ orderScreening, temporal }, code] of [
      [without, 'no-transaction'],
      [unrecorded, 'order-closed'],
      [aClient(), 'unknown-order'],
    ] as const) {
      expect(await orderScreening.hint(hint)).toEqual({ outcome: 'unknown' });
      await expect(orderScreening.recheck(order)).rejects.toMatchObject({ code });
      expect(temporal.signalWithStart).not.toHaveBeenCalled();
    }
  });

  it('is temporal-unavailable when the read cannot be started', async () => {
    const { orderScreening, temporal } = aClosed();
    temporal.signalWithStart.mockRejectedValueOnce(unavailable);
    await expect(orderScreening.hint(hint)).rejects.toMatchObject({ code: 'temporal-unavailable' });
    expect(await orderScreening.hint(hint)).toEqual({ outcome: 'accepted' });
  });
});
