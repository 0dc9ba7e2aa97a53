/** Connects commands to Temporal and the orders. */
import { Client, Connection } from '@temporalio/client';
import { createCardStash } from '../card-stash/index.ts';
import { createDataConverter } from '../codec/index.ts';
import type { NamedKey } from '../codec/sealer.ts';
import {
  type ClientSettings,
  type Config,
  loadClientSettings,
  unreachableTemporal,
} from '../config/index.ts';
import { localEnvironment, localPayloadKeys } from '../platform/local.ts';
import { createOrderScreening, type OrderScreening, type OrderScreeningOptions } from '../starter.ts';
import { UnreachableError, UsageError } from './exit-codes.ts';

const CONNECT_WITHIN = '5 seconds';

/**
 * Connects to Temporal. Without a configured screening service, uses the settings of `npm start` on this machine.
 * The connection isn't closed and ends with the process: closing it during a retry breaks the process.
 * @throws ConfigError for settings, UnreachableError if Temporal doesn't answer; nothing was sent then
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

/** @returns the payload keys; for the embedded server, its generated keys if none are set */
export async function payloadKeysOf({ payloadKeys, temporal, local }: ClientSettings): Promise<NamedKey[]> {
  return payloadKeys.length === 0 && temporal.embedded ? localPayloadKeys(local.dataDir) : payloadKeys;
}

/** @throws the SDK's error if the server doesn't answer, or refuses */
export function connectTemporal({ connection }: Config['temporal']): Promise<Connection> {
  return Connection.connect({ ...connection, connectTimeout: CONNECT_WITHIN });
}

/** @throws UnreachableError if the server doesn't answer; nothing was sent */
export function connectOrFail(temporal: Config['temporal']): Promise<Connection> {
  return connectTemporal(temporal).catch(() => {
    throw new UnreachableError(`nothing was sent: ${unreachableTemporal(temporal.connection)}`);
  });
}

/** Refuses cards without a Redis: a card in this process's memory never reaches the worker. */
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
