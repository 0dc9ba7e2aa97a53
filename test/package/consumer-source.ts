/** A project that depends on the package, as an order service would: the same source as ES modules and as CommonJS. */
export const CONSUMER = `
import { Client, Connection } from '@temporalio/client';
import { createDataConverter, createOrderScreening, type OrderScreening, OrderScreeningError } from 'order-screening';
import { createCardStash } from 'order-screening/cards';
import * as messages from 'order-screening/messages';
import { ConfigError, loadClientSettings } from 'order-screening/settings';

const input: messages.ScreenOrderInput = { orderId: '1001', transaction: { amount: '249.00' } };

// Declarations that couldn't be read would let these pass.
// @ts-expect-error there is no such action
const action: messages.CheckoutAnswer['action'] = 'capture';
// @ts-expect-error there is no such event
const type: messages.OrderEvent['type'] = 'order.lost';
// @ts-expect-error an order has a name
const nameless: messages.ScreenOrderInput = { transaction: {} };

async function main(): Promise<void> {
  const { temporal, payloadKeys, findIntegration } = loadClientSettings(process.env);
  const connection = Connection.lazy(temporal.connection);
  const dataConverter = createDataConverter(payloadKeys);
  const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
  const cards = createCardStash('memory:');
  const orders: OrderScreening = createOrderScreening({ client, findIntegration, cards });
  const refusal = await orders.screen({ orderId: '1001', transaction: { amount: 'a lot' } }).catch((error: unknown) => error);
  const unreachable = await orders.ping().catch((error: unknown) => error);
  const unset: unknown = await Promise.resolve().then(() => loadClientSettings({})).catch((error: unknown) => error);
  console.log(
    JSON.stringify([
      refusal instanceof OrderScreeningError && [refusal.code, refusal.details.errors?.[0]?.path],
      unreachable instanceof OrderScreeningError && unreachable.code,
      unset instanceof ConfigError,
      [messages.SCREEN_ORDER, messages.TASK_QUEUE, messages.orderWorkflowId('default', input.orderId)],
      [messages.decisionUpdate.name, messages.decisionUpdateId(1), messages.recheckSignal.name],
      dataConverter.failureConverterPath !== undefined,
    ]),
  );
}

void main().finally(() => process.exit());
void [action, type, nameless];
`;

/** What it writes. */
export const WRITTEN = [
  ['invalid-request', 'transaction.amount'],
  'temporal-unavailable',
  true,
  ['screenOrder', 'order-screening', 'order:default:1001'],
  ['decision', 'decision-1', 'recheck'],
  true,
];
