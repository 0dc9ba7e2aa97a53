import type { FastifyInstance } from 'fastify';
import type { Scope } from '../../../src/config/index.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { TRANSACTION_ID } from './fake-order-screening.ts';

const adopted = { transactionId: TRANSACTION_ID, screenedAt: new Date(Date.now() - 60_000).toISOString() };
const chargeback = { reason_code: '4853', due_date: '2026-04-01', inquiry: 'false', force: true };
const card = {
  orderId: 'order-1',
  cardNumber: '4111111111111111',
  expirationDate: '12/2034',
  cardCode: '123',
};

/** Every POST of the API with a body that it takes, and the method of the client library behind it. */
const ALL = [
  ['orders/order-1/screening', { attempt: 1, transaction: aTransaction() }, 'screen'],
  ['orders/order-1/adopt', adopted, 'adopt'],
  [
    'orders/order-1/gateway-result',
    { attempt: 1, result: 'pass', authcode: 'a1', transactionId: 't1' },
    'recordGatewayResult',
  ],
  ['card-refs', card, 'putCard'],
  ['orders/order-1/cancel', { reason: 'r', transactionId: TRANSACTION_ID }, 'cancel'],
  ['orders/order-1/report-fraud', { reason: 'r' }, 'reportFraud'],
  ['orders/order-1/customer-code', { customerCode: 'c', email: 'a@example.com' }, 'attachCustomerCode'],
  ['orders/order-1/chargebacks', chargeback, 'submitChargeback'],
  ['orders/order-1/override', { action: 'cancel', reason: 'r' }, 'override'],
  ['orders/order-1/recheck', {}, 'recheck'],
  ['orders/order-1/acknowledge', { reason: 'r' }, 'acknowledge'],
  ['orders/order-1/note', { text: 'n' }, 'note'],
  ['orders/order-1/assign', { assignee: 'bo' }, 'assign'],
  ['orders/order-1/snooze', { until: '2030-01-31T12:00:00.000Z', note: 'n' }, 'snooze'],
  ['orders/order-1/events/2/redeliver', {}, 'redeliver'],
] as const;

export const POSTS = ALL.map(([path, body, calls]) => ({ path: `/v1/${path}`, body, calls }));

/** Every operation on an order or a transaction. */
export const OPERATIONS = [
  ...POSTS.map((post) => ({ method: 'POST', ...post }) as const),
  { method: 'DELETE', path: '/v1/orders/%23order-1/actions/2', body: undefined, calls: 'withdraw' },
  { method: 'GET', path: '/v1/orders/order-1', body: undefined, calls: 'get' },
  { method: 'GET', path: '/v1/transactions/%23order-1', body: undefined, calls: 'getTransaction' },
] as const;

/** Returns a body with which the POST to this address is done. */
export function bodyOf(url: string): object {
  const name = url.split('/').at(-1);
  return POSTS.find(({ path }) => path.split('/').at(-1) === name)?.body ?? {};
}

export type Method = 'GET' | 'POST' | 'DELETE';

interface Documented {
  security: Record<string, Scope[]>[];
  responses: object;
}

/** Returns every operation of the OpenAPI document. */
export async function documentedOperations(app: FastifyInstance) {
  await app.ready();
  const { paths = {} } = app.swagger() as unknown as { paths: Record<string, Record<string, Documented>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, documented]) => {
      return { method: method.toUpperCase() as Method, path, ...documented };
    }),
  );
}
