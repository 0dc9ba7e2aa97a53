/** A project that depends on the package, as an order service would: the same source as ES modules and as CommonJS. */
export const CONSUMER = `
import { Client, Connection } from '@temporalio/client';
import { createDataConverter, createOrderScreening, type OrderScreening, OrderScreeningError } from 'order-screening';
import { createCardStash } from 'order-screening/cards';
import {
  type CheckoutAnswer,
  decisionUpdate,
  decisionUpdateId,
  type OrderEvent,
  orderWorkflowId,
  recheckSignal,
  SCREEN_ORDER,
  type ScreenOrderInput,
  TASK_QUEUE,
} from 'order-screening/messages';
import { ConfigError, loadClientSettings } from 'order-screening/settings';

const input: ScreenOrderInput = { orderId: '1001', transaction: { amount: '249.00' } };

// Declarations that couldn't be read would let these pass.
// @ts-expect-error there is no such action
const action: CheckoutAnswer['action'] = 'capture';
// @ts-expect-error there is no such event
const type: OrderEvent['type'] = 'order.lost';
// @ts-expect-error an order has a name
const nameless: ScreenOrderInput = { transaction: {} };

async function main(): Promise<void> {
  const { temporal, payloadKeys, findIntegration } = loadClientSettings(process.env);
  const connection = Connection.lazy(temporal.connection);
  const dataConverter = createDataConverter(payloadKeys);
  const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
  const cards = createCardStash('memory:');
  const orders: OrderScreening = createOrderScreening({ client, findIntegration, cards });
  const refusal = await orders.screen({ orderId: '1001', transaction: { amount: 'a lot' } }).catch((error: unknown) => error);
  const unreachable = await orders.ping().catch((error: unknown) => error);
  let unset: unknown;
  try {
    loadClientSettings({});
  } catch (error) {
    unset = error;
  }
  console.log(
    JSON.stringify({
      refused: refusal instanceof OrderScreeningError && [refusal.code, refusal.details.errors?.[0]?.path],
      unreachable: unreachable instanceof OrderScreeningError && unreachable.code,
      settings: unset instanceof ConfigError,
      start: [SCREEN_ORDER, TASK_QUEUE, orderWorkflowId('default', input.orderId)],
      messages: [decisionUpdate.name, decisionUpdateId(1), recheckSignal.name],
      encrypts: dataConverter.failureConverterPath !== undefined,
    }),
  );
}

void main().finally(() => process.exit());
void [action, type, nameless];
`;

/** What it writes. */
export const WRITTEN = {
  refused: ['invalid-request', 'transaction.amount'],
  unreachable: 'temporal-unavailable',
  settings: true,
  start: ['screenOrder', 'order-screening', 'order:default:1001'],
  messages: ['decision', 'decision-1', 'recheck'],
  encrypts: true,
};
