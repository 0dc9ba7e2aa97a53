/** How commands reach Temporal and the orders. */
import { Client, Connection } from '@temporalio/client';
import { createCardStash } from '../cards/index.ts';
import { createDataConverter } from '../codec/index.ts';
import { type Config, loadClientSettings, unreachableTemporal } from '../config/index.ts';
import { localEnvironment, localPayloadKeys } from '../process/local.ts';
import { createOrderScreening, type OrderScreening, type OrderScreeningOptions } from '../starter.ts';
import { UnreachableError, UsageError } from './exit-codes.ts';

const CONNECT_WITHIN = '5 seconds';

/**
 * Connects to Temporal. With no screening service configured the settings are those of `npm start` on this machine.
 * The connection isn't closed, it ends with the process: a call that is being retried when it is closed breaks the process.
 * @throws ConfigError for settings, UnreachableError when Temporal doesn't answer: nothing was sent then
 */
export async function withOrders<T>(
  env: NodeJS.ProcessEnv,
  use: (orders: OrderScreening) => Promise<T>,
): Promise<T> {
  const settings = loadClientSettings(localEnvironment(env).env);
  const { temporal, findIntegration, cardStash } = settings;
  const dataConverter = createDataConverter(await payloadKeysOf(settings), {
    required: settings.payloadsRequired,
  });
  const cards = sharedStash(cardStash);
  const connection = await connectOrFail(temporal);
  try {
    const client = new Client({ connection, namespace: temporal.namespace, dataConverter });
    const orders = createOrderScreening({ client, findIntegration, cards });
    const result = await use(orders);
    await orders.close();
    return result;
  } finally {
    await cards.close();
  }
}

/** What says with which keys the orders are encrypted. */
export type KeySettings = 'payloadKeys' | 'temporal' | 'local';

/** @returns the keys. The embedded server's data is encrypted, also when nobody has set one */
export async function payloadKeysOf({
  payloadKeys,
  temporal,
  local,
}: Pick<Config, KeySettings>): Promise<Config['payloadKeys']> {
  return payloadKeys.length === 0 && temporal.embedded ? localPayloadKeys(local.dataDir) : payloadKeys;
}

/** @throws the SDK's error when the server doesn't answer, or refuses */
export function connectTemporal({ connection }: Config['temporal']): Promise<Connection> {
  return Connection.connect({ ...connection, connectTimeout: CONNECT_WITHIN });
}

/** @throws UnreachableError when the server doesn't answer: nothing was sent */
export function connectOrFail(temporal: Config['temporal']): Promise<Connection> {
  return connectTemporal(temporal).catch(() => {
    throw new UnreachableError(`nothing was sent: ${unreachableTemporal(temporal.connection)}`);
  });
}

/** The worker is another process, so a card in this one's memory would never reach it. */
function sharedStash({ url, keys }: Config['cardStash']): NonNullable<OrderScreeningOptions['cards']> {
  const stash = createCardStash(url, keys);
  if (url !== 'memory:') return stash;
  return {
    ...stash,
    put: async () => {
      throw new UsageError(
        'Full card data reaches the worker only through a Redis: set CARD_STASH_URL and CARD_STASH_KEYS as for the worker',
      );
    },
  };
}
