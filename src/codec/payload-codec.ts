/** Encrypts payloads on their way to Temporal, and decrypts them. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { createSealer, type NamedKey, NONCE_BYTES, SealError, type Sealed, TAG_BYTES } from './sealer.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** As Temporal's own examples name them, so that its tools show what it is. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** What a key encrypts in one place opens in no other. */
const ASSOCIATED = Buffer.from('order-screening temporal payload');

/**
 * Encrypts each payload whole, its metadata too, as `nonce, tag, data`; the new metadata names the key.
 *
 * @param keys the first encrypts, all decrypt; none: payloads stay in plain. A payload in plain is read as it is.
 * @throws PayloadCodecError from `decode`
 */
export function createPayloadCodec(keys: readonly NamedKey[]): PayloadCodec {
  const [first, ...others] = keys;
  const sealer = first && createSealer(first, ...others);
  const encrypt = (payload: Payload): Payload => {
    if (sealer === undefined) return payload;
    const { keyId, nonce, tag, data } = sealer.seal(PayloadMessage.encode(payload).finish(), ASSOCIATED);
    return {
      metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(keyId) },
      data: Buffer.concat([nonce, tag, data]),
    };
  };
  const decrypt = (payload: Payload): Payload => {
    if (textOf(payload.metadata?.encoding) !== ENCRYPTED) return payload;
    const sealed = sealedOf(payload);
    if (sealer === undefined) throw new PayloadCodecError('unknown-payload-key', sealed.keyId);
    try {
      const { metadata, data } = PayloadMessage.decode(sealer.open(sealed, ASSOCIATED));
      return { metadata, data };
    } catch (error) {
      const known = error instanceof SealError && error.reason === 'unknown-key';
      throw new PayloadCodecError(known ? 'unknown-payload-key' : 'damaged-payload', sealed.keyId);
    }
  };
  return {
    encode: async (payloads) => payloads.map(encrypt),
    decode: async (payloads) => payloads.map(decrypt),
  };
}

function sealedOf({ metadata, data }: Payload): Sealed {
  const bytes = Buffer.from(data ?? []);
  const after = NONCE_BYTES + TAG_BYTES;
  return {
    keyId: textOf(metadata?.[KEY_ID]),
    nonce: bytes.subarray(0, NONCE_BYTES),
    tag: bytes.subarray(NONCE_BYTES, after),
    data: bytes.subarray(after),
  };
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString();
}

/** `unknown-payload-key`: this process lacks the key. `damaged-payload`: changed, or the key of that id is another one. */
export type PayloadCodecErrorCode = 'unknown-payload-key' | 'damaged-payload';

/** Thrown when a payload can't be decrypted. Of the payload it names the key's id, and nothing else. */
export class PayloadCodecError extends Error {
  override readonly name = 'PayloadCodecError';
  readonly code: PayloadCodecErrorCode;
  /** As PAYLOAD_KEYS takes it; absent when the payload names none of that form. */
  readonly keyId?: string;

  /** @param namedId what the payload says its key is: anybody's words */
  constructor(code: PayloadCodecErrorCode, namedId: string) {
    const keyId = /^[\w-]{1,32}$/.test(namedId) ? namedId : undefined;
    const key = keyId === undefined ? 'a key without a valid id' : `the key "${keyId}"`;
    super(
      code === 'unknown-payload-key'
        ? `A payload was encrypted with ${key}, which PAYLOAD_KEYS of this process lacks`
        : `A payload encrypted with ${key} cannot be decrypted: it was changed, or that id names another key in PAYLOAD_KEYS of this process`,
    );
    this.code = code;
    if (keyId !== undefined) this.keyId = keyId;
  }
}
