import {
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { KEY_MISSING, REFUSED_PAYLOAD } from '../contract/words.ts';
import {
  createSealer,
  type NamedKey,
  NONCE_BYTES,
  type Sealed,
  TAG_BYTES,
  UnknownKeyError,
} from './sealer.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** The names from Temporal's own examples, so that its tools recognize them. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const WORKFLOW_ID = 'workflow-id';

/**
 * The SDK's encoding of "no value". It isn't encrypted, since it has no content. A worker without the key can therefore still read void
 * results and empty heartbeat details.
 */
const NOTHING = 'binary/null';

/** Associated data that separates Temporal payloads from other uses of the same key. */
const ASSOCIATED = 'order-screening temporal payload';

export interface PayloadRules {
  required?: boolean;
  /**
   * How a payload that is refused or can't be decrypted is reported. `thrown`: decoding fails. `marked`: the payload becomes
   * `REFUSED_PAYLOAD` plus the reason, which an order refuses like any other invalid message; an error would fail the workflow task
   * repeatedly. Inputs and results of activities that can't be decrypted are always thrown: only our own processes write them, so this
   * process lacks a key.
   */
  refused?: 'thrown' | 'marked';
  /** Called with the reason for each marked payload. */
  report?: (error: PayloadCodecError) => void;
}

/**
 * Encrypts each payload with its metadata as `nonce, tag, data`. The new metadata has the key id and, if the SDK supplies it, the
 * workflow id. A payload with a workflow id is refused when it is read for a different workflow. If the SDK supplies no workflow id on
 * reading, the payload is only authenticated.
 *
 * @param keys the first encrypts, all decrypt. Without keys nothing is encrypted. Unencrypted payloads are read unless `required` is set.
 * @throws PayloadCodecError from `decode`
 */
export function createPayloadCodec(
  keys: readonly NamedKey[],
  { required = false, refused = 'thrown', report }: PayloadRules = {},
): PayloadCodec {
  const [first, ...others] = keys;
  const sealer = first && createSealer(first, ...others);
  const encrypt = (payload: Payload, workflowId: string | undefined): Payload => {
    if (sealer === undefined || textOf(payload.metadata?.encoding) === NOTHING) return payload;
    const content = PayloadMessage.encode(payload).finish();
    const { keyId, nonce, tag, data } = sealer.seal(content, associated(workflowId));
    return {
      metadata: {
        encoding: Buffer.from(ENCRYPTED),
        [KEY_ID]: Buffer.from(keyId),
        ...(workflowId !== undefined && { [WORKFLOW_ID]: Buffer.from(workflowId) }),
      },
      data: Buffer.concat([nonce, tag, data]),
    };
  };
  const refuse = (code: PayloadCodecErrorCode, keyId = '', mark = REFUSED_PAYLOAD): Payload => {
    const error = new PayloadCodecError(code, keyId);
    if (refused === 'thrown') throw error;
    report?.(error);
    return defaultPayloadConverter.toPayload(`${mark}${error.message}`);
  };
  const decrypt = (payload: Payload, context: SerializationContext | undefined): Payload => {
    // In the codec endpoint the SDK supplies no workflow id.
    const reader = context?.workflowId;
    const unopened = (code: UnopenedCode, keyId: string): Payload => {
      if (context?.type === 'activity') throw new PayloadCodecError(code, keyId);
      return refuse(code, keyId, KEY_MISSING);
    };
    const encoding = textOf(payload.metadata?.encoding);
    if (encoding !== ENCRYPTED) return required && encoding !== NOTHING ? refuse('plain-payload') : payload;
    const sealed = sealedOf(payload);
    const owner = ownerOf(payload);
    if (owner !== undefined && reader !== undefined && owner !== reader) {
      return refuse('payload-of-another', sealed.keyId);
    }
    if (sealer === undefined) return unopened('unknown-payload-key', sealed.keyId);
    try {
      const { metadata, data } = PayloadMessage.decode(sealer.open(sealed, associated(owner)));
      return { metadata, data };
    } catch (error) {
      const isUnknown = error instanceof UnknownKeyError;
      return unopened(isUnknown ? 'unknown-payload-key' : 'damaged-payload', sealed.keyId);
    }
  };
  return {
    encode: async (payloads, context) => payloads.map((one) => encrypt(one, context?.workflowId)),
    decode: async (payloads, context) => payloads.map((one) => decrypt(one, context)),
  };
}

/** @returns the id of the workflow that an encrypted payload belongs to, as its metadata says */
export function ownerOf({ metadata }: Payload): string | undefined {
  const id = metadata?.[WORKFLOW_ID];
  return id === undefined || id === null ? undefined : textOf(id);
}

/** Associated data of a payload. Includes the workflow id, so that a payload can't be decrypted after its workflow id was removed. */
function associated(workflowId: string | undefined): Buffer {
  return Buffer.from(workflowId === undefined ? ASSOCIATED : `${ASSOCIATED}\n${workflowId}`);
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

/** `unknown-payload-key`: this process lacks the key. `damaged-payload`: changed, or encrypted with a different key of the same id. */
type UnopenedCode = 'unknown-payload-key' | 'damaged-payload';

/** `plain-payload`: not encrypted although this is required. `payload-of-another`: belongs to another workflow. */
type PayloadCodecErrorCode = UnopenedCode | 'plain-payload' | 'payload-of-another';

/** Thrown when a payload can't be decrypted or is refused. The error contains the key's id and nothing else of the payload. */
export class PayloadCodecError extends Error {
  override readonly name = 'PayloadCodecError';
  readonly code: PayloadCodecErrorCode;
  /** Key id as in PAYLOAD_KEYS; absent if the payload has no valid key id. */
  readonly keyId?: string;

  /** @param namedId the key id in the payload's metadata, which is untrusted */
  constructor(code: PayloadCodecErrorCode, namedId: string) {
    const keyId = /^[\w-]{1,32}$/.test(namedId) ? namedId : undefined;
    super(wordsOf(code, keyId === undefined ? 'a key without a valid id' : `the key "${keyId}"`));
    this.code = code;
    if (keyId !== undefined) this.keyId = keyId;
  }
}

function wordsOf(code: PayloadCodecErrorCode, key: string): string {
  switch (code) {
    case 'unknown-payload-key':
      return `A payload was encrypted with ${key}, which PAYLOAD_KEYS of this process lacks`;
    case 'damaged-payload':
      return `A payload encrypted with ${key} cannot be decrypted: it was changed, or that id names another key in PAYLOAD_KEYS of this process`;
    case 'plain-payload':
      return 'A payload is not encrypted, and PAYLOADS_REQUIRED is set: send it with PAYLOAD_KEYS, or by the codec endpoint';
    case 'payload-of-another':
      return `A payload encrypted with ${key} belongs to another workflow`;
  }
}
