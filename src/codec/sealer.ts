/** AES-256-GCM with named keys, for all that is encrypted at rest: full card data, Temporal's payloads. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key of 32 bytes, with the id that says which one encrypted something. */
export interface NamedKey {
  id: string;
  key: Buffer;
}

/** Encrypted bytes, with nothing of them readable. */
export interface Sealed {
  keyId: string;
  /** 12 bytes. */
  nonce: Buffer;
  /** 16 bytes. */
  tag: Buffer;
  data: Buffer;
}

/** `unknown-key`: it may be whole, but this process lacks its key. `damaged`: changed, of another place, or of another key. */
export type SealErrorReason = 'unknown-key' | 'damaged';

/** Thrown when something sealed can't be opened. It holds no key and no content. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: SealErrorReason;

  constructor(reason: SealErrorReason) {
    super(`What was sealed cannot be opened: ${reason}`);
    this.reason = reason;
  }
}

export interface Sealer {
  /**
   * Encrypts with the first key and a nonce that was never used before.
   * @param associated where the content belongs: it opens with the same bytes only
   */
  seal(content: Uint8Array, associated: Uint8Array): Sealed;
  /** @throws SealError */
  open(sealed: Sealed, associated: Uint8Array): Buffer;
}

const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** @param first seals; it and the others open */
export function createSealer(first: NamedKey, ...others: readonly NamedKey[]): Sealer {
  const all = new Map([first, ...others].map(({ id, key }) => [id, key]));
  return {
    seal(content, associated) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, first.key, nonce).setAAD(associated);
      const data = Buffer.concat([cipher.update(content), cipher.final()]);
      return { keyId: first.id, nonce, tag: cipher.getAuthTag(), data };
    },
    open({ keyId, nonce, tag, data }, associated) {
      const key = all.get(keyId);
      if (key === undefined) throw new SealError('unknown-key');
      try {
        const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
          .setAAD(associated)
          .setAuthTag(tag);
        return Buffer.concat([decipher.update(data), decipher.final()]);
      } catch {
        throw new SealError('damaged');
      }
    },
  };
}
