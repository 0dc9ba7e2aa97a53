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
