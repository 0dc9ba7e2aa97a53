/** Settings of the payload codec. Design section 7. */
import type { z } from 'zod';
import type { NamedKey } from '../sealer.ts';
import { FaultList } from './fault-list.ts';
import { variables } from './known-variables.ts';
import type { ReadVariable } from './variables.ts';

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
