/** The requests of the contract test. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { aTransaction, TEST_CARD, withEmail } from '../fixtures/transactions.ts';
import { freePort, type GivenKey, spawnProcess } from '../support/index.ts';
import type { Contract, OpenApi } from '../support/openapi-contract.ts';
import { anOrderId, type Deployment } from './support.ts';

/** `codec` opens payloads, and may do nothing with orders. */
export const KEYS = {
  shop: 'key-of-the-contract-test',
  codec: 'key-of-who-only-opens-payloads',
  other: 'key-of-an-impatient-caller',
};
export const CALLERS: readonly GivenKey[] = [
  { name: 'shop', key: KEYS.shop },
  { name: 'ui', key: KEYS.codec, scopes: ['codec'] },
  { name: 'other', key: KEYS.other },
];

/** Policy skips this customer, so that a pre-gateway order needs no card and no Redis. */
const NOT_SCREENED = 'customer-of-the-house';
export const UNSCREENED_BODY = {
  workflow: 'pre-gateway',
  transaction: { ...aTransaction(), customer: { id: NOT_SCREENED, email: 'pass@example.com' } },
};
export const INTEGRATIONS = {
  default: { skip: [{ customerId: [NOT_SCREENED] }], events: 'all' },
  impatient: { checkoutBudget: '500ms' },
  watching: { passive: true },
  brief: { retryWithin: '1s' },
};

/** @returns every answer that the document names, as `POST /v1/orders/{orderId}/cancel 409` */
export function answersOf({ paths }: OpenApi): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
    ),
  );
}

/** Returns a problem's status and code in one line. */
export const said = ({ status, body }: { status: number; body: { type: string } }): string =>
  `${status} ${body.type.replace('/problems/', '')}`;

export interface Sending {
  /** The API's address, if it isn't that of the deployment. */
  at?: string;
  key?: string;
  method?: string;
  body?: unknown;
  /** In place of a body in JSON. */
  text?: string;
  headers?: Record<string, string>;
}

export interface To {
  deployment: Pick<Deployment, 'apiUrl'>;
  contract: Contract;
  /** Gets `POST /v1/orders/{orderId}/cancel 409`, as it came. */
  seen: Set<string>;
}

/** Starts an API process with other settings. */
export async function anotherApi({ settings }: Pick<Deployment, 'settings'>, env: Record<string, string>) {
  const port = await freePort();
  const process = await spawnProcess('src/api.ts', {
    env: { ...settings, ...env, API_PORT: String(port) },
    readyWhen: /listening/i,
  });
  return { url: `http://127.0.0.1:${port}`, process };
}

/** Sends a request, and holds the answer against the document. @returns status and body */
export async function sendTo(
  { deployment, contract, seen }: To,
  url: string,
  { at = deployment.apiUrl, key = KEYS.shop, method = 'POST', body, text, headers }: Sending,
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

type Parameters = OpenApi['paths'][string][string]['parameters'];

/** @returns the document's example of an operation, for an order */
export function exampleOf(path: string, parameters: Parameters = [], orderId: string) {
  const named = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place && parameter.example !== undefined)
      .map((parameter): [string, string] => [parameter.name, String(parameter.example)]);
  // The invoice number of an order is its id.
  const ofTheOrder = ['orderId', 'idOrInvoice'].map((name) => [name, orderId] as const);
  const address = [...ofTheOrder, ...named('path')].reduce(
    (to, [name, value]) => to.replace(`{${name}}`, value),
    path,
  );
  return {
    url: `${address}?${new URLSearchParams(named('query'))}`,
    headers: Object.fromEntries(named('header')),
  };
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
  adopt: { transactionId: randomUUID(), screenedAt: new Date(Date.now() - 60_000).toISOString() },
  'gateway-result': { result: 'pass' },
  cancel: {},
  'report-fraud': {},
  chargebacks: { reason_code: '10.4', due_date: '2030-01-31' },
  'customer-code': { customerCode: '4711' },
  override: { action: 'proceed', reason: 'the customer called' },
  recheck: {},
  acknowledge: { reason: 'looked at it' },
  'events/1/redeliver': {},
};

/** An address of each operation, for an order. */
export function addresses(orderId: string): { method: string; url: string; body?: object }[] {
  return [
    { method: 'GET', url: `/v1/orders/${orderId}` },
    { method: 'GET', url: '/v1/orders' },
    { method: 'GET', url: `/v1/transactions/${orderId}` },
    { method: 'POST', url: '/v1/card-refs', body: { orderId, ...TEST_CARD } },
    { method: 'DELETE', url: of(orderId, 'actions/1') },
    ...Object.entries(BODIES).map(([name, body]) => ({ method: 'POST', url: of(orderId, name), body })),
  ];
}

/** What is the same in each request. `url`: in place of the last part of an address. */
export type Unchanging = Pick<Sending, 'at' | 'key'> & { url?: string };

/** Asks for each operation, and expects that status from each. */
export async function isAnsweredAlways(
  send: (url: string, sending: Sending) => Promise<{ status: number }>,
  status: number,
  { url: wrong, ...how }: Unchanging,
): Promise<void> {
  await Promise.all(
    addresses(anOrderId()).map(async ({ method, url, body }) => {
      if (status === 400 && (method !== 'GET' || url === '/v1/orders')) return;
      const address = wrong === undefined ? url : url.replace(/[^/]*$/, wrong);
      const ask = () => send(address, { method, ...(body && { body }), ...how });
      let answer = await ask();
      // Where calls are slow, some get through before one comes too soon.
      for (let more = 9; status === 429 && answer.status !== 429 && more > 0; more -= 1) answer = await ask();
      expect(answer.status, `${method} ${url}`).toBe(status);
    }),
  );
}
