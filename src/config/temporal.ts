/** How a process connects to Temporal, and the keys of the payload codec. */
import type { Metadata, TLSConfig } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { z } from 'zod';
import type { NamedKey } from '../codec/sealer.ts';
import { variables } from './known-variables.ts';
import { FaultList, type ReadVariable, variableReader } from './values.ts';

/** Fits `Connection.connect` and `NativeConnection.connect`; spelled out, so that a client needs no type of the worker. */
export interface TemporalConnection {
  address: string;
  tls?: TLSConfig | boolean | null;
  metadata?: Metadata;
  apiKey?: string;
  /** Of a client; the worker's own connection tries again at each call. */
  channelArgs?: Record<string, number>;
}

/** The pauses between a client's tries to connect grow; gRPC's own limit of two minutes would make an outage that much longer. */
const CLIENT_CHANNEL = { 'grpc.max_reconnect_backoff_ms': 5_000 };

export interface TemporalSettings {
  /** No address is configured anywhere: the embedded server on this machine is meant. */
  embedded: boolean;
  connection: TemporalConnection;
  namespace: string;
}

/** What the SDK takes: a name, an IPv4 address or an IPv6 address in brackets; the port is 7233 unless given. */
const ADDRESS = /^(?:\[[0-9a-fA-F.:]+\]|[^\s:/@[\]]+)(?::\d{1,5})?$/;

/**
 * Reads Temporal's own variables and settings file, as every Temporal tool does.
 * @param embeddedPort port of the embedded server, for when no address is configured
 */
export function readTemporal(
  env: NodeJS.ProcessEnv,
  embeddedPort: number,
  faults: FaultList,
): TemporalSettings {
  const fallback = `127.0.0.1:${embeddedPort}`;
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: setOnly(env) });
    const { address, ...others } = connectionOptions;
    if (address !== undefined && !ADDRESS.test(address)) {
      faults.add(
        'TEMPORAL_ADDRESS',
        'must be host or host:port, without http:// and path; so must a profile’s address',
      );
    }
    return {
      embedded: address === undefined,
      connection: {
        ...withoutUndefined(others),
        address: address ?? fallback,
        channelArgs: CLIENT_CHANNEL,
      },
      namespace: namespace ?? 'default',
    };
  } catch (error) {
    // The reader's own words may quote the file, with the key in it.
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    faults.add(
      'TEMPORAL_*',
      `can't be read: see TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE, TEMPORAL_TLS_*${code}`,
    );
    return { embedded: true, connection: { address: fallback }, namespace: 'default' };
  }
}

/** @returns what is wrong when there is no connection, and what to do. The SDK's own words may quote credentials. */
export function unreachableTemporal({ address }: TemporalConnection): string {
  return `Temporal doesn't answer at ${address}, or refuses this process: start it, or correct TEMPORAL_ADDRESS, TEMPORAL_API_KEY and TEMPORAL_TLS_*`;
}

function setOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

// Settings of the payload codec.

/** Who may ask the API to decrypt payloads, beside who has an API key. */
export interface CodecSettings {
  /** Web origins whose pages may ask: where the Temporal UI is opened. */
  origins: string[];
  /** Makes an address of its own, for a UI that has no API key. Absent: there is none. */
  token?: string;
}

/** @param uiPort port of the embedded server's UI, whose pages may ask unless others are named */
export function readCodec(read: ReadVariable, uiPort: number): CodecSettings {
  const ui = ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${uiPort}`);
  const token = read(variables.codecToken);
  return {
    origins: read(variables.codecOrigins) ?? ui,
    ...(token !== undefined && { token }),
  };
}

/** Settings of the embedded server and the sandbox. */
export interface LocalSettings {
  temporalPort: number;
  temporalUiPort: number;
  dataDir: string;
  sandboxPort: number;
  /** Where the sandbox sends its webhooks. */
  sandboxWebhookUrl?: string;
}

/** Reads what the embedded server and the sandbox are told. */
export function readLocal(env: NodeJS.ProcessEnv, faults: FaultList): LocalSettings {
  const read = variableReader(env, faults);
  const sandboxWebhookUrl = read(variables.sandboxWebhookUrl);
  return {
    temporalPort: read(variables.temporalPort),
    temporalUiPort: read(variables.temporalUiPort),
    dataDir: read(variables.dataDir),
    sandboxPort: read(variables.sandboxPort),
    ...(sandboxWebhookUrl && { sandboxWebhookUrl }),
  };
}

/** Reads what is said of payloads. The embedded server's have keys that are made for it. */
export function readPayloads(
  read: ReadVariable,
  { embedded }: TemporalSettings,
  faults: FaultList,
): { payloadKeys: NamedKey[]; payloadsRequired: boolean } {
  const payloadKeys = read(variables.payloadKeys) ?? [];
  const payloadsRequired = read(variables.payloadsRequired) === 'true';
  if (payloadsRequired && payloadKeys.length === 0 && !embedded) {
    faults.add('PAYLOADS_REQUIRED', 'asks for PAYLOAD_KEYS: without a key nothing is encrypted');
  }
  return { payloadKeys, payloadsRequired };
}

/** Reads keys as PAYLOAD_KEYS has them. @throws ConfigError that names `from`, and no key */
export function readPayloadKeys(written: string, from: string): NamedKey[] {
  return readAlone(written, variables.payloadKeys.schema, from);
}

/** Reads a token as CODEC_TOKEN has it. @throws ConfigError that names `from`, and no token */
export function readCodecToken(written: string, from: string): string {
  return readAlone(written, variables.codecToken.schema, from);
}

function readAlone<T>(written: string, schema: z.ZodType<T>, from: string): T {
  const faults = new FaultList();
  const value = faults.read(from, schema, written);
  if (value === undefined) return faults.fail();
  return value;
}
