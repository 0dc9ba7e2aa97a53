/** The requests of the contract test. */
import { TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import type { Contract } from '../support/openapi-contract.ts';

export interface Sending {
  method?: string;
  body?: unknown;
  /** In place of a body in JSON. */
  text?: string;
  headers?: Record<string, string>;
}

export interface To {
  /** The API's address. */
  at: string;
  key: string;
  contract: Contract;
  /** Gets `POST /v1/orders/{orderId}/cancel 409`, as it came. */
  seen: Set<string>;
}

/** Sends a request, and holds the answer against the document. @returns status and body */
export async function sendTo(
  { at, key, contract, seen }: To,
  url: string,
  { method = 'POST', body, text, headers }: Sending,
) {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(at + url, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { body: payload }),
  });
  const { status } = response;
  const answer = await response.text();
  contract.check({ method, url, status, headers: Object.fromEntries(response.headers), body: answer });
  seen.add(`${contract.operationOf({ method, url })} ${status}`);
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is what the tests look into
  return { status, body: JSON.parse(answer) as any };
}

export const of = (orderId: string, name: string, integration = 'default') =>
  `/v1/orders/${orderId}/${name}?integration=${integration}`;

/** The portal actions, and what the service calls them. */
export const ACTIONS = [
  ['cancel', 'cancel-transaction'],
  ['report-fraud', 'report-fraud'],
  ['chargebacks', 'submit-chargeback'],
  ['customer-code', 'customer-code'],
] as const;
export const BODIES: Record<string, object> = {
  screening: { transaction: withEmail('pass@example.com') },
  'gateway-result': { result: 'pass' },
  cancel: {},
  'report-fraud': {},
  chargebacks: { reason_code: '10.4', due_date: '2030-01-31' },
  'customer-code': { customerCode: '4711' },
  recheck: {},
  acknowledge: { reason: 'looked at it' },
};

/** An address of each operation, for an order. */
export function addresses(orderId: string): { method: string; url: string; body?: object }[] {
  return [
    { method: 'GET', url: `/v1/orders/${orderId}` },
    { method: 'GET', url: '/v1/orders' },
    { method: 'POST', url: '/v1/card-refs', body: { orderId, ...TEST_CARD } },
    { method: 'DELETE', url: of(orderId, 'actions/1') },
    ...Object.entries(BODIES).map(([name, body]) => ({ method: 'POST', url: of(orderId, name), body })),
  ];
}
