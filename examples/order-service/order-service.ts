/** A minimal order service: screens at checkout, then captures, voids or refunds by the action. See README.md. */
import { Client, Connection } from '@temporalio/client';
import { fastify } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { loadClientSettings } from '../../src/config/index.ts';
import { createDataConverter, createOrderScreening, OrderScreeningError } from '../../src/starter.ts';

type Action = 'proceed' | 'hold' | 'decline' | 'cancel';

interface Order {
  /** The number of the customer's payment attempt. */
  attempt: number;
  payment: 'authorized' | 'captured' | 'voided' | 'refunded';
  /** The requests to the payment gateway. */
  calls: string[];
}

interface Attempt {
  orderId: string;
  attempt: number;
  transaction: unknown;
}

/** A real service stores these in its database, and changes them in one transaction. */
const orders = new Map<string, Order>();
const eventsDone = new Set<string>();
/** The newest event of each order. */
const newest = new Map<string, { sequence: number; attempt?: number | undefined; action: Action }>();
const unrecorded = new Set<Attempt>();

const { PORT = '3000', EVENTS_SECRET = '' } = process.env;
const { temporal, payloadKeys, findIntegration } = loadClientSettings(process.env);
// Lazy: without Temporal the service starts, and a checkout gets 503 with policy's action.
const connection = Connection.lazy(temporal.connection);
const dataConverter = createDataConverter(payloadKeys);
const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
const screening = createOrderScreening({ client, findIntegration });
const webhook = new Webhook(EVENTS_SECRET);

const app = fastify();
// The signature covers the raw body, so verify it before parsing.
app.removeAllContentTypeParsers();
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
  done(null, body),
);

// Events name an order without a leading `#`.
app.addHook<{ Params: { orderId?: string } }>('preHandler', async ({ params }) => {
  if (params.orderId !== undefined) params.orderId = params.orderId.replace(/^#/, '');
});

/** The checkout, after the gateway has authorized the payment. The body is the transaction; a declined customer pays again with the next `attempt`. */
app.post<{ Params: { orderId: string }; Querystring: { attempt?: string }; Body: string }>(
  '/checkout/:orderId',
  async ({ params: { orderId }, query, body }, reply) => {
    const attempt = Number(query.attempt ?? 1);
    const transaction: unknown = JSON.parse(body);
    const { attempt: last = 0, payment } = orders.get(orderId) ?? {};
    const isNew = last < attempt;
    // A second payment would hide the first one, which a later cancel must void or refund.
    if (isNew && (payment === 'authorized' || payment === 'captured'))
      return reply.code(409).send({ payment });
    if (isNew) authorized(orderId, attempt);
    try {
      const { action, message } = await screen({ orderId, attempt, transaction });
      return { action, message, payment: orders.get(orderId)?.payment };
    } catch (error) {
      // The request was refused. The customer pays again with the corrected request, under the same number.
      if (isNew && error instanceof OrderScreeningError) {
        follow({ orderId, attempt }, 'cancel');
        Object.assign(orders.get(orderId) ?? {}, { attempt: last });
      }
      throw error;
    }
  },
);

/** Without an answer the order does what policy says, and the request is kept: nobody screens the order until a repeat is answered. */
async function screen(request: Attempt): Promise<{ action: Action; message?: string }> {
  let answer: { action: Action; message?: string };
  try {
    answer = await screening.screen(request);
    unrecorded.delete(request);
  } catch (error) {
    const { action } = error instanceof OrderScreeningError ? error.details : {};
    if (action === undefined) throw error;
    unrecorded.add(request);
    answer = { action };
  }
  // An event of the attempt is newer than any answer.
  const event = newest.get(request.orderId);
  const { action } = event?.attempt === request.attempt ? event : answer;
  follow(request, action);
  return { ...answer, action };
}

/** Repeating an attempt is safe: it returns the same answer and creates no second transaction. One at a time, to not flood what recovers. */
async function repeatUnrecorded(): Promise<void> {
  for (const request of unrecorded) {
    await screen(request).catch((error: Error) => {
      unrecorded.delete(request);
      console.error(`order ${request.orderId} needs a person: ${error.message}`);
    });
  }
  setTimeout(repeatUnrecorded, 2_000);
}
void repeatUnrecorded();

const reasonSchema = z.object({ reason: z.string() });

/** A person cancels. If the screening service refuses the cancel, refund the payment manually. */
app.post<{ Params: { orderId: string }; Body: string }>(
  '/orders/:orderId/cancel',
  async ({ params, body }) => {
    const { reason } = reasonSchema.parse(JSON.parse(body));
    const { status } = await screening.cancel(params, { reason });
    follow(params, 'cancel');
    return { status, payment: orders.get(params.orderId)?.payment };
  },
);

/** Adopts a review that another system screened: `{transactionId, screenedAt}`. */
app.post<{ Params: { orderId: string }; Body: string }>(
  '/orders/:orderId/adopt',
  async ({ params, body }) => {
    // First, since an event may be faster than the answer.
    if (!orders.has(params.orderId)) authorized(params.orderId, 1);
    const { action } = await screening.adopt({ ...JSON.parse(body), ...params });
    follow(params, action);
    return { action, payment: orders.get(params.orderId)?.payment };
  },
);

app.setErrorHandler((error, _request, reply) => {
  if (!(error instanceof OrderScreeningError)) throw error;
  // The outcome is unknown, so capture nothing. An event reports it, or the customer retries.
  if (error.code === 'temporal-unavailable') return reply.code(503).send({ action: 'hold' });
  return reply.code(422).send({ code: error.code, errors: error.details.errors });
});

const eventSchema = z.object({
  orderId: z.string().optional(),
  integration: z.string().optional(),
  sequence: z.number().default(0),
  data: z.object({
    action: z.enum(['proceed', 'hold', 'decline', 'cancel']).optional(),
    attempt: z.number().optional(),
  }),
});

/** Receives the events of order-screening. After any answer but 2xx an event is sent again. */
app.post<{ Body: string }>('/events', async (request, reply) => {
  const id = String(request.headers['webhook-id']);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  let payload: unknown;
  try {
    payload = webhook.verify(request.body, Object.fromEntries(headers));
  } catch {
    return reply.code(401).send({ event: 'forged, or more than five minutes old' });
  }
  if (eventsDone.has(id)) return { event: 'repeated' };
  const { orderId, integration, sequence, data } = eventSchema.parse(payload);
  // The same order id in another integration is another order. All orders here are of `default`.
  const isOurs = orderId !== undefined && integration === 'default';
  // One that was given up and is sent again may come after a newer one.
  if (isOurs && data.action !== undefined && sequence > (newest.get(orderId)?.sequence ?? 0)) {
    const { action, attempt } = data;
    newest.set(orderId, { sequence, attempt, action });
    follow({ orderId, attempt }, action);
  }
  eventsDone.add(id);
  return { event: 'taken' };
});

app.get<{ Params: { orderId: string } }>('/orders/:orderId', async ({ params }, reply) => {
  return orders.get(params.orderId) ?? reply.code(404).send({});
});

function authorized(orderId: string, attempt: number): void {
  const { calls = [] } = orders.get(orderId) ?? {};
  orders.set(orderId, { attempt, payment: 'authorized', calls });
}

/** Captures, voids or refunds the payment, once, whichever of checkout answer and event comes first. */
function follow(
  { orderId, attempt }: { orderId: string; attempt?: number | undefined },
  action: Action,
): void {
  const order = orders.get(orderId);
  // A late answer or event of an earlier attempt doesn't concern the current payment.
  if (order === undefined || action === 'hold' || (attempt ?? order.attempt) !== order.attempt) return;
  const { payment } = order;
  if (action === 'proceed') {
    if (payment === 'authorized') order.payment = 'captured';
  } else if (payment === 'authorized') order.payment = 'voided';
  else if (payment === 'captured') order.payment = 'refunded';
  // A real service calls the gateway here.
  if (order.payment !== payment) order.calls.push(order.payment);
}

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
console.log(`order service is listening on http://127.0.0.1:${PORT}`);
