import type { FastifyInstance, InjectOptions } from 'fastify';
import { expect, type Mock, onTestFinished, vi } from 'vitest';
import type { ApiKey } from '../../../src/config/index.ts';
import type { CheckoutAnswer, PortalAnswer } from '../../../src/contract/answers.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { ApiOptions } from '../../../src/server/api/api-options.ts';
import { createApi } from '../../../src/server/api/create-api.ts';
import type {
  InspectedOrder,
  OrderScreening,
  OrderSummary,
  TransactionStatus,
} from '../../../src/starter.ts';
import { anOrder, anOrderState } from '../../fixtures/orders.ts';
import { type Contract, createContract } from '../../support/openapi-contract.ts';

export const TRANSACTION_ID = '3f2c1a5e-8d4b-4c6f-9a7e-2b1d0c9f8e7a';
export const RUN_ID = '0190f3a1-7c5e-7d2b-8e4f-6a9b0c1d2e3f';
export const CANCEL_BY = '2026-03-06T10:00:00.000Z';

const ORDER = { orderId: 'order-1', integration: 'default' };
const PASSED = { ...ORDER, attempt: 1, decision: 'pass', action: 'proceed', phase: 'decided' } as const;

export function aCheckoutAnswer(overrides: Partial<CheckoutAnswer> = {}): CheckoutAnswer {
  return { ...PASSED, transactionId: TRANSACTION_ID, cancelBy: CANCEL_BY, ...overrides };
}

export function aPortalAnswer(overrides: Partial<PortalAnswer> = {}): PortalAnswer {
  return { ...ORDER, kind: 'cancel', status: 'done', code: '200', ...overrides };
}

/** An order of the list. */
export function anOrderSummary(overrides: Partial<OrderSummary> = {}): OrderSummary {
  return {
    ...ORDER,
    phase: 'review',
    decision: 'review',
    action: 'hold',
    needsAttention: false,
    cancelBy: CANCEL_BY,
    amount: 125.5,
    transactionIds: [TRANSACTION_ID],
    startedAt: '2026-03-01T10:00:00.000Z',
    ...overrides,
  };
}

export function anInspectedOrder(overrides: Partial<InspectedOrder> = {}): InspectedOrder {
  return { summary: anOrderSummary(), runId: RUN_ID, state: anOrder('review'), ...overrides };
}

export function aTransactionStatus(overrides: Partial<TransactionStatus> = {}): TransactionStatus {
  return { id: TRANSACTION_ID, decision: 'review', order: ORDER, ...overrides };
}

/** The answers of an order that passed. */
const ANSWERS: OrderScreening = {
  screen: async () => aCheckoutAnswer(),
  adopt: async () => ({ ...PASSED, decision: 'review', action: 'hold' }),
  retry: async () => aCheckoutAnswer({ attempt: 2 }),
  recordGatewayResult: async () => ({ ...PASSED, result: 'pass' }),
  get: async () => anOrderState(),
  inspect: async () => anInspectedOrder(),
  getTransaction: async ({ integration = 'default' }) =>
    aTransactionStatus({ order: { ...ORDER, integration } }),
  list: async () => ({ orders: [] }),
  queue: async () => ({ orders: [], cut: false }),
  rows: async () => ({ orders: [] }),
  health: async () => ({ unpolled: [], sweep: { status: 'running' } }),
  count: async () => 0,
  cancel: async () => aPortalAnswer(),
  reportFraud: async () => aPortalAnswer({ kind: 'report-fraud' }),
  submitChargeback: async () => aPortalAnswer({ kind: 'chargeback' }),
  attachCustomerCode: async () => aPortalAnswer({ kind: 'customer-code' }),
  acknowledge: async () => ({ cleared: 1 }),
  note: async () => ORDER,
  assign: async (_order, { assignee }) => ({ ...ORDER, ...(assignee && { assignee }) }),
  snooze: async (_order, { until }) => ({ ...ORDER, snoozedUntil: until }),
  withdraw: async () => aPortalAnswer({ number: 1, status: 'withdrawn' }),
  override: async () => ({ ...PASSED, decision: 'review' }),
  redeliver: async (_order, { sequence }) => {
    return { ...ORDER, sequence, type: 'order.decided', status: 'delivered' };
  },
  recheck: async () => ({ status: 'requested' }),
  hint: async () => ({ outcome: 'accepted' }),
  putCard: async () => ({ cardRef: 'card_1', expiresAt: CANCEL_BY }),
  statistics: async () => ({
    outcomes: { overridden: 0, 'override-confirmed': 0, 'override-contradicted': 0, chargeback: 0 },
    reviews: { count: 0 },
  }),
  ping: async () => {},
  close: async () => ({ unsent: 0 }),
};

/** The client library: a test replaces the answers that it is about. */
export function fakeOrderScreening() {
  const methods = Object.entries(ANSWERS).map(([name, answer]) => [name, vi.fn(answer)]);
  return Object.fromEntries(methods) as { [Name in keyof OrderScreening]: Mock<OrderScreening[Name]> };
}

let contract: Contract | undefined;

/** @returns the check of the API's own OpenAPI document, which is the same for every API */
export function contractOf(app: FastifyInstance): Contract {
  contract ??= createContract(JSON.parse(JSON.stringify(app.swagger())));
  return contract;
}

/** From now on whatever is injected must be answered as the OpenAPI document says, by pages that show text only. */
function holdToContract(app: FastifyInstance): void {
  const inject = app.inject.bind(app);
  const checked = async (request: InjectOptions | string) => {
    const response = await inject(request);
    const { statusCode: status, headers, body } = response;
    const { method = 'GET', url = '' } = response.raw.req;
    contractOf(app).check({ method, url, status, headers, body });
    // A template that isn't `html` shows markup, or any other value that is no text, like this.
    if (/^text\/html/.test(String(headers['content-type'])))
      expect(body, `${method} ${url}`).not.toMatch(/\[object |\bundefined\b|\bNaN\b|Invalid Date/);
    return response;
  };
  Object.defineProperty(app, 'inject', { value: checked });
}

/** The options of the API, with its keys as a list. */
export type TestedApi = Partial<Omit<ApiOptions, 'apiKeys'>> & { apiKeys?: readonly ApiKey[] };

/**
 * The API over a fake, closed when the test is over; `logged` is everything it has logged, `audit` the audit log. What is injected into it fails
 * the test when the answer isn't as documented.
 */
export async function anApi({ apiKeys = [], ...options }: TestedApi = {}) {
  const orderScreening = fakeOrderScreening();
  const lines: string[] = [];
  const app = await createApi({
    orderScreening,
    apiKeys: { current: apiKeys },
    maxRps: 1_000,
    webhookSecrets: ['webhook-secret-1', 'webhook-secret-2'],
    log: createLog('test', 'info', { write: (line) => void lines.push(line) }),
    ...options,
  });
  holdToContract(app);
  onTestFinished(async () => {
    await app.close();
  });
  const linesOf = (isAudit: boolean) =>
    lines
      .map((line): Record<string, unknown> => JSON.parse(line))
      .filter(({ audit }) => (audit === true) === isAudit);
  const audit = () => linesOf(true);
  return { app, orderScreening, logged: () => lines.join(''), audit, withoutAudit: () => linesOf(false) };
}
