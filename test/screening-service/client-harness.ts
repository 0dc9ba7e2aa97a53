import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import {
  type CallOptions,
  createScreeningClient,
  type Dialect,
  type ScreeningClient,
  ScreeningError,
} from '../../src/screening-service/index.ts';
import { aTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { stubService } from './stub-service.ts';

export const KEY = 'sk/canary key+0123456789';
export const ID = '3f2c1a00-1b2c-4d5e-8f90-0123456789ab';
export const CREATE = { transaction: aTransaction(), card: TEST_CARD, enrich: true, invoiceNumber: '1001' };
export const CHARGEBACK = { transactionId: ID, reason_code: '4837', due_date: '2026-07-01' };

export let service: Awaited<ReturnType<typeof stubService>>;

/** A stub of the service for a test file. */
export function withService(): void {
  beforeAll(async () => {
    service = await stubService();
  });
  afterAll(() => service.close());
  beforeEach(() => {
    service.seen.length = 0;
  });
}

export function client(dialect: Dialect = 'definition', address = service.url, apiKeyHeader = false) {
  return createScreeningClient({
    baseUrl: `${address}/test/`,
    portalBaseUrl: `${address}/portal/api/v1/transaction-update`,
    apiKey: KEY,
    dialect,
    apiKeyHeader,
  });
}

/** The error a call ends with, after making sure that it shows neither key nor card. */
export async function failureOf(call: Promise<unknown>): Promise<ScreeningError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ScreeningError)) throw new Error(`not a ScreeningError: ${inspect(error)}`);
  const shown = inspect(error, { depth: 10, showHidden: true }) + error.stack + JSON.stringify(error);
  const { cardNumber, expirationDate } = TEST_CARD;
  for (const secret of ['canary', cardNumber, expirationDate, '127.0.0.1', '@example.com']) {
    expect(shown).not.toContain(secret);
  }
  expect(error.cause).toBeUndefined();
  return error;
}

type Call = (to: ScreeningClient, options?: CallOptions) => Promise<unknown>;

export const OPERATIONS: [name: string, call: Call][] = [
  ['create-transaction', (to, options) => to.createTransaction(CREATE, options)],
  ['gateway-response', (to, options) => to.gatewayResponse({ transactionId: ID, result: 'pass' }, options)],
  ['status', (to, options) => to.status('1001', options)],
  ['status-by-url', (to, options) => to.statusById(ID, options)],
  ['status-by-invoice', (to, options) => to.statusByInvoice('1001', options)],
  ['customer-code', (to, o) => to.customerCode({ customerCode: 'c', email: 'pass@example.com' }, o)],
  ['report-fraud', (to, options) => to.reportFraud({ transactionId: ID }, options)],
  ['cancel-transaction', (to, options) => to.cancelTransaction({ transactionId: ID }, options)],
  ['submit-chargeback', (to, options) => to.submitChargeback(CHARGEBACK, options)],
];
export const PORTAL = OPERATIONS.slice(5);
