/** What `repair` takes for lost, and how it ends without Temporal; `test/e2e/cli/repair.test.ts` repairs orders on a server. */
import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.ts';
import { factsOf } from '../../src/cli/repair-command.ts';
import { examine, repairOrder } from '../../src/cli/repair-order.ts';
import { aClientOver, attributes, STATUSES, unavailable } from '../client/fake-temporal.ts';
import { run } from './support.ts';

type Status = keyof typeof STATUSES;

/** A client of a namespace with one order, which has ended. */
function endedAs(status: Status, values: Record<string, unknown>): Client {
  const workflowExecutionInfo = {
    execution: { runId: 'its-run' },
    status: STATUSES[status],
    closeTime: { seconds: 1 },
    ...attributes(values),
  };
  return aClientOver({
    describeWorkflowExecution: async () => ({ workflowExecutionInfo }),
    listWorkflowExecutions: async () => ({ executions: [], nextPageToken: new Uint8Array() }),
  });
}

const WINDOW = { ScreeningPhase: 'review', CancelBy: '2026-03-04T00:00:00.000Z' };

it.each<[Status, Record<string, string>, 'lost' | 'healthy']>([
  ['TERMINATED', {}, 'lost'],
  ['TIMED_OUT', {}, 'lost'],
  ['CANCELED', WINDOW, 'lost'],
  // The sweep and the alert OrderScreeningOrdersLost count it, and say to repair it.
  ['FAILED', WINDOW, 'lost'],
  // Its start was refused, and the caller was told.
  ['FAILED', {}, 'healthy'],
  ['COMPLETED', WINDOW, 'healthy'],
])('an order that ended as %s with %j is %s', async (status, values, kind) => {
  const { condition } = await examine(endedAs(status, values), 'order:default:1');
  expect(condition).toEqual({ kind, status });
});

it.each(['COMPLETED', 'RUNNING'] as const)(
  'an order whose cancel is %s since it was lost is not repaired: it would not know of the cancel',
  async (cancel) => {
    const client = endedAs('TERMINATED', { ...WINDOW, TransactionId: ['tx-1'] });
    const { describeWorkflowExecution } = client.workflowService;
    const cancelOf = { execution: { runId: 'r' }, status: cancel === 'RUNNING' ? 1 : 2 };
    const closeTime = cancel === 'RUNNING' ? {} : { closeTime: { seconds: 2 } };
    Object.assign(client.workflowService, {
      describeWorkflowExecution: async (request: Parameters<typeof describeWorkflowExecution>[0]) =>
        request.execution?.workflowId?.startsWith('portal:')
          ? { workflowExecutionInfo: { ...cancelOf, ...closeTime } }
          : describeWorkflowExecution(request),
    });
    const { condition } = await examine(client, 'order:default:1');
    expect(condition).toEqual({ kind: 'canceled', status: 'TERMINATED' });
  },
);

it.each(['history', 'reset'])(
  'without an answer about the %s it ends with 5: the outcome is unknown',
  async (what) => {
    const history = { events: [completed(4)] };
    const fetchHistory = async () => {
      if (what === 'history') throw unavailable;
      return history;
    };
    const resetWorkflowExecution = async () => {
      throw unavailable;
    };
    const client = endedAs('TERMINATED', {});
    Object.assign(client.workflowService, { resetWorkflowExecution });
    Object.assign(client, { workflow: { getHandle: () => ({ fetchHistory }) } });
    const repair = repairOrder(client, 'order:default:1', { force: false, reason: 'a test' });
    const error = await repair.catch((thrown: unknown) => thrown);
    expect(exitCodeOf(error)).toBe(5);
  },
);

it('an order without a completed workflow task is not to be sent again before its transaction was looked for', async () => {
  const client = endedAs('TERMINATED', {});
  const fetchHistory = async () => ({
    events: [{ eventId: 1, workflowExecutionStartedEventAttributes: {} }],
  });
  Object.assign(client, { workflow: { getHandle: () => ({ fetchHistory }) } });
  const repair = await repairOrder(client, 'order:default:1', { force: false, reason: 'a test' });
  expect(repair).toMatchObject({ outcome: 'nothing-good', resets: 0 });
  // The first workflow task creates the transaction before it is completed.
  expect(factsOf('1', repair).outcome).toMatch(
    /start workers of the build that ran it.*transaction.*adopt.*only if there is none.*again$/,
  );
});

const completed = (eventId: number) => ({ eventId, workflowTaskCompletedEventAttributes: {} });
const request = (name: string) => ({ meta: { updateId: 'id' }, input: { name } });
const accepted = (eventId: number, acceptedRequest: object | null) => ({
  eventId,
  workflowExecutionUpdateAcceptedEventAttributes: { protocolInstanceId: 'id', acceptedRequest },
});
const admitted = (eventId: number, name: string) => ({
  eventId,
  workflowExecutionUpdateAdmittedEventAttributes: { request: request(name) },
});

it.each<[string, object[], object]>([
  ['other requests', [completed(4), accepted(5, request('decision')), completed(8)], { resets: 2 }],
  ['a further attempt', [completed(4), accepted(5, request('retry')), completed(8)], { resets: 1 }],
  ['an override', [completed(4), accepted(5, request('override')), completed(8)], { resets: 1 }],
  [
    'an override sent again by a reset',
    [admitted(4, 'override'), completed(7), accepted(8, null), completed(11)],
    { resets: 1 },
  ],
  ['the newest', [completed(4), accepted(5, request('retry'))], { resets: 0, outcome: 'nothing-good' }],
])('no reset forgets a further attempt or an override: %s', async (_what, events, expected) => {
  const workflowExecutionInfo = { execution: { runId: 'its-run' }, status: 1 };
  const client = aClientOver({
    describeWorkflowExecution: async () => ({ workflowExecutionInfo, pendingWorkflowTask: { attempt: 3 } }),
    resetWorkflowExecution: async () => ({ runId: 'new' }),
  });
  const getHandle = (_id: string, runId: string) => ({
    fetchHistory: async () => ({ events: runId === 'new' ? [] : events }),
  });
  Object.assign(client, { workflow: { getHandle } });
  const repair = await repairOrder(client, 'order:default:1', { force: false, reason: 'a test' });
  expect(repair).toMatchObject({ outcome: 'failing', ...expected });
});

it('an order whose start is refused after the reset is not repaired', async () => {
  const client = endedAs('TERMINATED', {});
  const refused = { eventId: 9, workflowExecutionFailedEventAttributes: {} };
  const getHandle = (_id: string, run: string) => ({
    fetchHistory: async () => ({
      events: run === 'new' ? [completed(8), refused] : [completed(4)],
    }),
  });
  Object.assign(client.workflowService, { resetWorkflowExecution: async () => ({ runId: 'new' }) });
  Object.assign(client, { workflow: { getHandle } });
  const repair = await repairOrder(client, 'order:default:1', { force: false, reason: 'a test' });
  expect(repair).toMatchObject({ outcome: 'failing', resets: 1 });
});

it.each(['--reason', '--actor'])(
  'card data in %s is refused: Temporal stores a reset in plain text',
  async (option) => {
    const { problem, ...others } = await run(['repair', '1001', option, 'has 4111 1111 1111 1111']);
    expect(problem?.type).toContain('card-data-in-request');
    expect(JSON.stringify([problem, others])).not.toContain('4111');
  },
);
