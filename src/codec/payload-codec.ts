/** Encrypts payloads on their way to Temporal, and decrypts them. */
import {
  defaultPayloadConverter,
  type Payload,
  type PayloadCodec,
  type SerializationContext,
} from '@temporalio/common';
import proto from '@temporalio/proto';
import { KEY_MISSING, REFUSED_PAYLOAD } from '../contract/words.ts';
import { createSealer, type NamedKey, NONCE_BYTES, SealError, type Sealed, TAG_BYTES } from './sealer.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/** As Temporal's own examples name them, so that its tools show what it is. */
const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** The workflow that a payload belongs to. */
const WORKFLOW_ID = 'workflow-id';

/**
 * As the SDK says that there is no value. Nothing of it is worth a secret, so it stays in plain: a void result is read without a key, and
 * so is what an empty heartbeat told the next try, on a worker that lacks the key of the one before.
 */
const NOTHING = 'binary/null';

/** What a key encrypts in one place opens in no other. */
const ASSOCIATED = 'order-screening temporal payload';

export interface PayloadRules {
  /** Payloads in plain are refused. */
  required?: boolean;
  /**
   * What becomes of a payload that is refused or can't be opened. `thrown`: reading fails. `marked`: what is read is `REFUSED_PAYLOAD` and
   * why, which an order refuses like any other wrong message; thrown, it would fail the workflow's task again and again. Only what an
   * activity is given or returns is thrown still when it can't be opened: processes of ours alone write that, so this one lacks a key.
   */
  refused?: 'thrown' | 'marked';
  /** Gets why each marked payload could not be read. */
  report?: (error: PayloadCodecError) => void;
}

/**
 * Encrypts each payload whole, its metadata too, as `nonce, tag, data`; the new metadata names the key and, where the SDK tells it, the
 * workflow, both authenticated. Read for another workflow, such a payload is refused; where none is told it is only authenticated.
 *
 * @param keys the first encrypts, all decrypt; none: payloads stay in plain. Unless they are refused, those in plain are read as they are.
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
    const reader = workflowOf(context);
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
      const unknown = error instanceof SealError && error.reason === 'unknown-key';
      return unopened(unknown ? 'unknown-payload-key' : 'damaged-payload', sealed.keyId);
    }
  };
  return {
    encode: async (payloads, context) => payloads.map((one) => encrypt(one, workflowOf(context))),
    decode: async (payloads, context) => payloads.map((one) => decrypt(one, context)),
  };
}

/** @returns the workflow whose payloads are read or written, as far as the SDK tells it: not in the codec endpoint */
function workflowOf(context: SerializationContext | undefined): string | undefined {
  return context?.workflowId;
}

function ownerOf({ metadata }: Payload): string | undefined {
  const id = metadata?.[WORKFLOW_ID];
  return id === undefined || id === null ? undefined : textOf(id);
}

/** A payload that names no workflow opens as such a one only: taking its name away damages it. */
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

/** `plain-payload`: not encrypted, where that is required. `payload-of-another`: it belongs to another workflow. */
type RefusalCode = 'plain-payload' | 'payload-of-another';

/** `unknown-payload-key`: this process lacks the key. `damaged-payload`: it was changed, or the key of that id is a different one. */
type UnopenedCode = 'unknown-payload-key' | 'damaged-payload';

/** Why a payload cannot be read. */
export type PayloadCodecErrorCode = UnopenedCode | RefusalCode;

/** Thrown when a payload can't be decrypted, or is refused. Of the payload it names the key's id, and nothing else. */
export class PayloadCodecError extends Error {
  override readonly name = 'PayloadCodecError';
  readonly code: PayloadCodecErrorCode;
  /** As PAYLOAD_KEYS takes it; absent when the payload names none of that form. */
  readonly keyId?: string;

  /** @param namedId what the payload says its key is: anybody's words */
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
