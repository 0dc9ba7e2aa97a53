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
  mapToPayloads,
  type Payload,
  RetryState,
} from '@temporalio/common';
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

/** A payload that was encrypted with a key that nobody here has. */
export const ENCRYPTED: Payload = {
  metadata: { encoding: Buffer.from('binary/encrypted') },
  data: Buffer.alloc(60),
};

/** A value as Temporal's API has it. */
export function payload(value: unknown): Payload | undefined {
  return value === ENCRYPTED ? ENCRYPTED : defaultPayloadConverter.toPayload(value);
}

/** What a search attribute is on a list or a description. */
export function attributes(values: Record<string, unknown>) {
  return { searchAttributes: { indexedFields: mapToPayloads(defaultPayloadConverter, values) } };
}

/** The field of the memo that has the order's record. */
export function recordField(state: OrderState | typeof ENCRYPTED) {
  return { [RECORD]: payload('orderId' in state ? memoOf(recordOf(state))[RECORD] : state) };
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
    /** The state whose record is in the memo, if there is one. */
    record: vi.fn<() => Promise<OrderState | typeof ENCRYPTED | undefined>>(async () => undefined),
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

const withDeadline = (_deadline: number, call: () => Promise<unknown>) => call();

/** A client of Temporal that only its API is asked of, and these parts. */
export function aClientOver(workflowService: object, parts: object = {}): Client {
  const options = { namespace: 'default', loadedDataConverter: loadDataConverter() };
  return Object.assign(Object.create(null), { options, workflowService, withDeadline, ...parts });
}

/** The client library over a fake Temporal, and the handle ids that it asked for. */
export function aClient(settings: Partial<Integration> = {}, cards?: CardStash, earlyAnswers?: EarlyAnswers) {
  const temporal = fakeTemporal();
  const integration = anIntegration(settings);
  const handles: string[] = [];
  const client: Client = Object.assign(Object.create(Client.prototype), {
    options: { namespace: 'default', loadedDataConverter: loadDataConverter() },
    withDeadline,
    workflow: {
      executeUpdateWithStart: temporal.executeUpdateWithStart,
      start: temporal.start,
      signalWithStart: temporal.signalWithStart,
      getHandle: (id: string, runId?: string) => {
        handles.push(id);
        const getUpdateHandle = (name: string) => ({
          result: () => temporal.pollUpdate(...([name] as never[])),
        });
        const result = () => temporal.result(...([runId] as never[]));
        return { ...temporal, result, getUpdateHandle };
      },
    },
  });
  const workflowService = {
    ...temporal,
    describeWorkflowExecution: async ({
      execution,
    }: {
      execution: { workflowId: string; runId?: string };
    }) => {
      const { workflowId, runId } = execution;
      const asked = temporal.describe(...([workflowId, ...(runId ? [runId] : [])] as never[]));
      const { workflowExecutionInfo: info, ...seen } = (await asked.catch(notFound)) as Described;
      const record = await temporal.record();
      const fields = { ...info.memo.fields, ...(record && recordField(record)) };
      return { workflowExecutionInfo: { ...info, memo: { fields } }, ...seen };
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
  return { client, orderScreening, temporal, handles, integration };
}

/** A client of one order with this record, as the server describes it. */
export function aClientOf(
  state: OrderState | undefined,
  status: keyof typeof STATUSES = 'RUNNING',
  raw: object = {},
  settings: Partial<Integration> = {},
) {
  const client = aClient(settings);
  const { phase, decision } = state ?? {};
  client.temporal.describe.mockResolvedValue(described(status, { phase, decision, ...raw }));
  client.temporal.record.mockResolvedValue(state);
  if (status === 'COMPLETED' && state) client.temporal.result.mockResolvedValue(state);
  return client;
}

/** As the server says it to a call that the SDK doesn't wrap. */
function notFound(error: unknown): never {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
  throw grpcError(5, 'workflow not found');
}

/** `WorkflowExecutionStatus` of Temporal's API. */
export const STATUSES = {
  RUNNING: 1,
  COMPLETED: 2,
  FAILED: 3,
  CANCELED: 4,
  TERMINATED: 5,
  CONTINUED_AS_NEW: 6,
  TIMED_OUT: 7,
};

/** The refusal of a request, as the client library throws it, with the path of each fault. */
export function faultsAt(...paths: string[]) {
  return { code: 'invalid-request', details: { errors: paths.map((path) => ({ path })) } };
}

/** What Temporal throws for an order's refusal. */
export function refused(
  code: OrderErrorCode | 'SomethingElse',
  details: OrderErrorDetails = {},
): WorkflowUpdateFailedError {
  const cause = ApplicationFailure.create({ type: code, message: 'In words.', details: [details] });
  return new WorkflowUpdateFailedError('Workflow Update failed', cause);
}

type Described = ReturnType<typeof described>;

interface Seen {
  phase?: string | undefined;
  decision?: string | undefined;
  historyLength?: number;
  /** What the memo has beside the record. */
  memo?: Record<string, unknown>;
  /** Pending activities and the like. */
  [more: string]: unknown;
}

/** What the server says of an order. */
export function described(status: keyof typeof STATUSES, seen: Seen = {}) {
  const { phase = 'screening', decision, historyLength = 2, memo = {}, ...more } = seen;
  const fields = Object.fromEntries(Object.entries(memo).map(([name, value]) => [name, payload(value)]));
  return {
    workflowExecutionInfo: {
      execution: { workflowId: 'order:default:order-1', runId: 'run-1' },
      status: STATUSES[status],
      startTime: msToTs(Date.parse('2026-03-01T10:00:00.000Z')),
      ...(status !== 'RUNNING' && { closeTime: msToTs(Date.parse('2026-03-07T10:00:00.000Z')) }),
      historyLength,
      ...attributes({ ScreeningPhase: phase, ScreeningDecision: decision }),
      memo: { fields },
    },
    ...more,
  };
}

/** The history of an order that no worker has begun. */
export function startedWith(input: Partial<ScreenOrderInput> | typeof ENCRYPTED) {
  const payloads = [payload(input)];
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
  const client = aClientOf(record, 'COMPLETED');
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
  const order = { orderId: '1', integration: 'default', attempt: 1, transaction: {}, invoiceNumber: '1' };
  const request = { ...order, knownTransactionIds: [], startedAt: at, begun: at };
  earlyAnswers.tell(run, request, outcome && { policy: aPolicy(), outcome, began: at, at });
}
