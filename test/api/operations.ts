import { aTransaction } from '../fixtures/transactions.ts';
import { TRANSACTION_ID } from './fake-order-screening.ts';

/** Every POST of the API with a body that it takes, and the method of the client library behind it. */
export const POSTS = [
  {
    path: '/v1/orders/order-1/screening',
    body: { attempt: 1, transaction: aTransaction() },
    calls: 'screen',
  },
  {
    path: '/v1/orders/order-1/adopt',
    body: { transactionId: TRANSACTION_ID, screenedAt: new Date(Date.now() - 60_000).toISOString() },
    calls: 'adopt',
  },
  {
    path: '/v1/orders/order-1/gateway-result',
    body: { attempt: 1, result: 'pass', authcode: 'a1', transactionId: 't1' },
    calls: 'recordGatewayResult',
  },
  {
    path: '/v1/card-refs',
    body: { orderId: 'order-1', cardNumber: '4111111111111111', expirationDate: '12/2034', cardCode: '123' },
    calls: 'putCard',
  },
  {
    path: '/v1/orders/order-1/cancel',
    body: { reason: 'r', transactionId: TRANSACTION_ID },
    calls: 'cancel',
  },
  { path: '/v1/orders/order-1/report-fraud', body: { reason: 'r' }, calls: 'reportFraud' },
  {
    path: '/v1/orders/order-1/customer-code',
    body: { customerCode: 'c', email: 'a@example.com' },
    calls: 'attachCustomerCode',
  },
  {
    path: '/v1/orders/order-1/chargebacks',
    body: { reason_code: '4853', due_date: '2026-04-01', inquiry: 'false', force: true },
    calls: 'submitChargeback',
  },
  { path: '/v1/orders/order-1/override', body: { action: 'cancel', reason: 'r' }, calls: 'override' },
  { path: '/v1/orders/order-1/recheck', body: {}, calls: 'recheck' },
  { path: '/v1/orders/order-1/acknowledge', body: { reason: 'r' }, calls: 'acknowledge' },
  { path: '/v1/orders/order-1/events/2/redeliver', body: {}, calls: 'redeliver' },
] as const;
