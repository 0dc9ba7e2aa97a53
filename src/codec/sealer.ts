/** AES-256-GCM with named keys, used for everything encrypted at rest: full card data and Temporal payloads. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key of 32 bytes. Encrypted data contains its id. */
export interface NamedKey {
  id: string;
  key: Buffer;
}

export interface Sealed {
  keyId: string;
  /** 12 bytes. */
  nonce: Buffer;
  /** 16 bytes. */
  tag: Buffer;
  data: Buffer;
}

/** `unknown-key`: this process lacks the key. `damaged`: changed, or encrypted with other associated data or a different key. */
export type SealErrorReason = 'unknown-key' | 'damaged';

/** Thrown when data can't be decrypted. Contains no key and no content. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly reason: SealErrorReason;

  constructor(reason: SealErrorReason) {
    super(`Decryption failed: ${reason}`);
    this.reason = reason;
  }
}

export interface Sealer {
  /**
   * Encrypts with the first key and a new random nonce.
   * @param associated associated data; decryption requires the same bytes
   */
  seal(content: Uint8Array, associated: Uint8Array): Sealed;
  open(sealed: Sealed, associated: Uint8Array): Buffer;
}

const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** @param first encrypts; all keys decrypt */
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
