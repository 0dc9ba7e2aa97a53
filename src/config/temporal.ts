/** How a process connects to Temporal. */
import type { Metadata, TLSConfig } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { isLoopback } from '../contract/values.ts';
import type { ErrorList } from './errors.ts';
import { isSet, secretText } from './values.ts';

/** Fits `Connection.connect` and `NativeConnection.connect`; a client needs no type of the worker. */
interface TemporalConnection {
  address: string;
  tls?: TLSConfig | boolean | null;
  metadata?: Metadata;
  apiKey?: string;
  /** Of a client; the worker's own connection retries at each call. */
  channelArgs?: Record<string, number>;
}

export interface TemporalSettings {
  /** No address is configured anywhere: the embedded server on this machine. */
  embedded: boolean;
  connection: TemporalConnection;
  namespace: string;
}

/** The longest pause between two attempts to connect. With gRPC's default an outage would last up to two minutes longer. */
const CLIENT_CHANNEL = { 'grpc.max_reconnect_backoff_ms': 5_000 };
/** gRPC follows `https_proxy`, also to this machine. */
const WITHOUT_PROXY = { 'grpc.enable_http_proxy': 0 };

/** The SDK takes a name, an IPv4 address or an IPv6 address in brackets; the port defaults to 7233. */
const ADDRESS = /^(?:\[[0-9a-fA-F.:]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/;

const TLS_WORDS = ['true', '1', 'false', '0'];

/**
 * Reads Temporal's own variables and settings file, as every Temporal tool does.
 * @param embeddedPort port of the embedded server, used when no address is configured
 */
export function readTemporal(
  env: NodeJS.ProcessEnv,
  embeddedPort: number,
  errors: ErrorList,
): TemporalSettings {
  const fallback = `127.0.0.1:${embeddedPort}`;
  try {
    const set = Object.entries(env).filter((entry): entry is [string, string] => isSet(entry[1]));
    const { connectionOptions, namespace } = loadClientConnectConfig({
      overrideEnvVars: Object.fromEntries(set),
    });
    const { address, tls, metadata, apiKey } = connectionOptions;
    if (address !== undefined && !ADDRESS.test(address)) {
      const message =
        'must be host or host:port, without http:// and path; the same applies to a profile’s address';
      errors.add('TEMPORAL_ADDRESS', message);
    }
    // The reader takes any other word as false, which turns off even the TLS that an API key or certificates turn on.
    if (isSet(env.TEMPORAL_TLS) && !TLS_WORDS.includes(env.TEMPORAL_TLS)) {
      errors.add('TEMPORAL_TLS', 'must be "true" or "false"');
    }
    // The error of each call to Temporal would quote a key or a header that can't be sent.
    if (apiKey !== undefined) errors.read('TEMPORAL_API_KEY', secretText, apiKey);
    if (!Object.values(metadata ?? {}).every((sent) => /^[\x20-\x7e]*$/.test(String(sent))))
      errors.add('TEMPORAL_GRPC_META_*', 'must hold only visible ASCII characters and spaces');
    return {
      embedded: address === undefined,
      connection: {
        address: address ?? fallback,
        channelArgs: {
          ...CLIENT_CHANNEL,
          ...(isLoopback((address ?? fallback).replace(/:\d+$/, '')) && WITHOUT_PROXY),
        },
        ...(tls !== undefined && { tls }),
        ...(metadata !== undefined && { metadata }),
        ...(apiKey !== undefined && { apiKey }),
      },
      namespace: namespace ?? 'default',
    };
  } catch (error) {
    // The message of the reader may quote the file, with the key in it.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    const message = `can't be read; check TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE and TEMPORAL_TLS_*${code}`;
    errors.add('TEMPORAL_*', message);
    return { embedded: true, connection: { address: fallback }, namespace: 'default' };
  }
}

/** Returns why there is no connection and what to do. The SDK's own message may quote credentials. */
export function unreachableTemporal({ address }: TemporalConnection): string {
  return `Temporal doesn't answer at ${address}, or refuses this process: start it, or correct TEMPORAL_ADDRESS, TEMPORAL_API_KEY and TEMPORAL_TLS_*`;
}
