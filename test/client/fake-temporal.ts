import {
  Client,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type Payload,
  RetryState,
  type SearchAttributePair,
} from '@temporalio/common';
import { encodeUnifiedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { vi } from 'vitest';
import type { CardStash } from '../../src/card-stash/index.ts';
import type { ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import type { OrderErrorCode, OrderErrorDetails } from '../../src/contract/errors.ts';
import type { Envelope, PortalActionInput, ScreenOrderInput } from '../../src/contract/messages.ts';
import type { OrderState } from '../../src/contract/order/state.ts';
import type { Integration } from '../../src/contract/policy.ts';
import { recordOf } from '../../src/order/view/bounded-record.ts';
import { orderAttributes } from '../../src/order/view/describe.ts';
import { memoOf, RECORD } from '../../src/order/view/order-memo.ts';
import { createOrderScreening, type EarlyAnswers } from '../../src/starter.ts';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { aClosedOrder, aPolicy, sinceStart } from '../fixtures/orders.ts';
import { aPortalAnswer } from '../server/api/fake-order-screening.ts';

type Call = (...args: never[]) => Promise<unknown>;

export const gone = new WorkflowNotFoundError('completed', 'order', undefined);
export const alreadyStarted = new WorkflowExecutionAlreadyStartedError('there', 'order', 'screenOrder');
export const noAnswer = new WorkflowUpdateRPCTimeoutOrCancelledError('deadline exceeded');
export const unavailable = new ServiceError('Failed', { cause: grpcError(14) });

export function grpcError(code: number, details = 'grpc'): Error {
  return Object.assign(new Error(details), { code, details, metadata: { get: () => [] } });
}

/** A workflow that ended without a result. */
export function failed(code?: OrderErrorCode, details: OrderErrorDetails = {}): WorkflowFailedError {
  const cause = code && ApplicationFailure.create({ type: code, message: 'In words.', details: [details] });
  return new WorkflowFailedError('failed', cause, RetryState.NON_RETRYABLE_FAILURE);
}

/** One page of Temporal's list: these workflows, or these rows. */
export function listing(...rows: (string | object)[]) {
  const executions = rows.map((row) => (typeof row === 'string' ? { execution: { workflowId: row } } : row));
  return { executions, nextPageToken: new Uint8Array() };
}

/** The query of the first list that was asked for. */
export function queryAsked({ listWorkflowExecutions }: ReturnType<typeof fakeTemporal>): string {
  const [[{ query }]] = listWorkflowExecutions.mock.calls as unknown as [[{ query: string }]];
  return query;
}

/** What was sent to an order, or started for it: the name of each message, its options, and an update without its envelope. */
export function sent({ mock }: { mock: { calls: unknown[][] } }) {
  const calls = mock.calls as [{ name?: string }, { args: unknown[]; updateId?: string }][];
  return calls.map(([{ name }, { args, ...options }]) => {
    const [first] = args as [Partial<Envelope<unknown>> | undefined];
    const isUpdate = first?.updateId !== undefined && first.updateId === options.updateId;
    const opened = isUpdate && { args: [first.body], type: first.type, ...(first.key && { key: first.key }) };
    return { name, args, ...options, ...opened };
  });
}

/** An update that the order took, and its end. */
export function taken(end: unknown) {
  return {
    result: async () => {
      if (end instanceof Error) throw end;
      return end;
    },
  };
}

/** What a test says that Temporal answers; whatever it doesn't say is as if the order were unknown. */
export function fakeTemporal() {
  const unknown = () => Promise.reject(gone);
  return {
    executeUpdateWithStart: vi.fn<Call>(unknown),
    start: vi.fn<Call>(async () => ({})),
    signalWithStart: vi.fn<Call>(async () => ({})),
    describe: vi.fn<Call>(unknown),
    fetchHistory: vi.fn<Call>(async () => startedWith({})),
    /** The state whose record is in the memo; undefined: there is no memo. `UNREADABLE`: the client's keys don't open it. */
    record: vi.fn<() => Promise<OrderState | typeof UNREADABLE | undefined>>(async () => undefined),
    result: vi.fn<Call>(unknown),
    executeUpdate: vi.fn<Call>(unknown),
    startUpdate: vi.fn<Call>(unknown),
    pollUpdate: vi.fn<Call>(unknown),
    signal: vi.fn<Call>(unknown),
    listWorkflowExecutions: vi.fn<Call>(async () => listing()),
    countWorkflowExecutions: vi.fn<Call>(async () => ({ count: 0 })),
    describeNamespace: vi.fn<Call>(async () => ({})),
    describeTaskQueue: vi.fn<Call>(async () => ({ pollers: [] })),
  };
}

/** The client library over a fake Temporal, and the handle ids that it asked for. */
export function aClient(settings: Partial<Integration> = {}, cards?: CardStash, earlyAnswers?: EarlyAnswers) {
  const temporal = fakeTemporal();
  const integration = anIntegration(settings);
  const handles: string[] = [];
  const client: Client = Object.assign(Object.create(Client.prototype), {
    options: { namespace: 'default', loadedDataConverter: loadDataConverter() },
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflow: {
      executeUpdateWithStart: temporal.executeUpdateWithStart,
      start: temporal.start,
      signalWithStart: temporal.signalWithStart,
      getHandle: (id: string) => {
        handles.push(id);
        const getUpdateHandle = (name: string) => ({
          result: () => temporal.pollUpdate(...([name] as never[])),
        });
        return { ...temporal, getUpdateHandle };
      },
    },
  });
  const workflowService = {
    ...temporal,
    describeWorkflowExecution: async ({ execution }: { execution: { workflowId: string } }) => {
      const seen = await temporal.describe(...([execution.workflowId] as never[])).catch(notFound);
      return rawOf(seen as ReturnType<typeof described>, await temporal.record());
    },
    getWorkflowExecutionHistory: async () => ({ history: await temporal.fetchHistory() }),
  };
  Object.defineProperty(client, 'workflowService', { value: workflowService });
  const orderScreening = createOrderScreening({
    client,
    findIntegration: finding(integration),
    ...(cards && { cards }),
    ...(earlyAnswers && { earlyAnswers }),
  });
  return { orderScreening, temporal, handles, integration };
}

/** A client of one order with this record, as the server describes it. */
export function aClientOf(
  state: OrderState | undefined,
  status: keyof typeof STATUSES = 'RUNNING',
  raw: object = {},
  settings: Partial<Integration> = {},
) {
  const client = aClient(settings);
  client.temporal.describe.mockResolvedValue({ ...described(status, state?.phase, state?.decision), raw });
  client.temporal.record.mockResolvedValue(state);
  if (status === 'COMPLETED' && state) client.temporal.result.mockResolvedValue(state);
  return client;
}

export const UNREADABLE = Symbol('unreadable');

/** As the server says it to a call that the SDK doesn't wrap. */
function notFound(error: unknown): never {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
  throw grpcError(5, 'workflow not found');
}

const STATUSES = { RUNNING: 1, COMPLETED: 2, FAILED: 3, TERMINATED: 5, PAUSED: 8 };

/** What the server says of an order, with its memo. */
function rawOf(seen: ReturnType<typeof described>, state: OrderState | typeof UNREADABLE | undefined) {
  const pairs = [...seen.typedSearchAttributes].flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value }],
  );
  const record = state === UNREADABLE || state === undefined ? state : memoOf(recordOf(state))[RECORD];
  const memo = Object.entries({ ...(record !== undefined && { [RECORD]: record }), ...seen.memo });
  return {
    workflowExecutionInfo: {
      execution: { workflowId: seen.workflowId, runId: seen.runId },
      status: STATUSES[seen.status.name],
      startTime: msToTs(seen.startTime.getTime()),
      ...(seen.closeTime && { closeTime: msToTs(seen.closeTime.getTime()) }),
      historyLength: seen.historyLength,
      searchAttributes: {
        indexedFields: encodeUnifiedSearchAttributes(undefined, pairs as SearchAttributePair[]),
      },
      memo: { fields: Object.fromEntries(memo.map(([name, value]) => [name, asPayload(value)])) },
    },
    ...seen.raw,
  };
}

function asPayload(value: unknown): Payload | undefined {
  return value === UNREADABLE
    ? { metadata: { encoding: Buffer.from('binary/encrypted') }, data: Buffer.alloc(60) }
    : defaultPayloadConverter.toPayload(value);
}

/** What Temporal throws for an order's refusal. */
export function refused(
  code: OrderErrorCode | 'SomethingElse',
  details: OrderErrorDetails = {},
): WorkflowUpdateFailedError {
  const cause = ApplicationFailure.create({ type: code, message: 'In words.', details: [details] });
  return new WorkflowUpdateFailedError('Workflow Update failed', cause);
}

/** What `describe` says of an order. */
export function described(status: keyof typeof STATUSES, phase = 'screening', decision?: string) {
  const shown = new Map<unknown, unknown>([
    [orderAttributes.phase, phase],
    [orderAttributes.decision, decision],
  ]);
  const closed = status !== 'RUNNING' && status !== 'PAUSED';
  return {
    workflowId: 'order:default:order-1',
    runId: 'run-1',
    status: { name: status },
    startTime: new Date('2026-03-01T10:00:00.000Z'),
    closeTime: closed ? new Date('2026-03-07T10:00:00.000Z') : undefined,
    typedSearchAttributes: shown,
    raw: {},
    memo: {},
    historyLength: 2,
  };
}

/** The history of an order that no worker has begun. */
export function startedWith(input: Partial<ScreenOrderInput>) {
  const payloads = [defaultPayloadConverter.toPayload(input)];
  return { events: [{ workflowExecutionStartedEventAttributes: { input: { payloads } } }, {}] };
}

/** The workflows of portal actions that were started. */
export function startedActions({ temporal }: ReturnType<typeof aClient>) {
  const calls = temporal.start.mock.calls as unknown as [
    string,
    { args: [PortalActionInput]; workflowId: string },
  ][];
  return calls.map(([type, { args, ...options }]) => ({ type, input: args[0], ...options }));
}

/** A client of one closed order, whose portal actions are done. */
export function aClosed(record = aClosedOrder()) {
  const client = aClient();
  client.temporal.startUpdate.mockRejectedValue(gone);
  client.temporal.describe.mockResolvedValue(described('COMPLETED'));
  client.temporal.result.mockResolvedValueOnce(record).mockResolvedValue(aPortalAnswer());
  return client;
}

/** A worker of this process tells how the screening of a run ended, before it is recorded. Without an outcome it failed. */
export function tellEarly(
  earlyAnswers: EarlyAnswers,
  outcome: ScreeningOutcome | undefined,
  run: { workflowId: string; runId: string },
) {
  const at = sinceStart(0);
  const order = { orderId: '1', integration: 'default', transaction: {}, invoiceNumber: '1' };
  const request = { ...order, knownTransactionIds: [], startedAt: at, begun: at };
  earlyAnswers.tell(run, request, outcome && { policy: aPolicy(), outcome, began: at, at });
}
