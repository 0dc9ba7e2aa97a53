/** AES-256-GCM with named keys, used for everything encrypted at rest: full card data and Temporal payloads. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/** A key of 32 bytes. Encrypted data contains its id. */
export interface NamedKey {
  id: string;
  key: Buffer;
}

export interface Sealed {
  keyId: string;
  nonce: Buffer;
  tag: Buffer;
  data: Buffer;
}

/** Thrown when this process lacks the key that the data was encrypted with. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';
}

const CIPHER = 'aes-256-gcm';
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;

/** @param first encrypts; all keys decrypt */
export function createSealer(first: NamedKey, ...others: readonly NamedKey[]) {
  const all = new Map([first, ...others].map(({ id, key }) => [id, key]));
  return {
    /**
     * Encrypts with the first key and a new random nonce.
     * @param associated associated data; decryption requires the same bytes
     */
    seal(content: Uint8Array, associated: Uint8Array): Sealed {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, first.key, nonce).setAAD(associated);
      const data = Buffer.concat([cipher.update(content), cipher.final()]);
      return { keyId: first.id, nonce, tag: cipher.getAuthTag(), data };
    },
    /** @throws UnknownKeyError; Node's error, without content, if the data was changed, or has other associated data or a different key */
    open({ keyId, nonce, tag, data }: Sealed, associated: Uint8Array): Buffer {
      const key = all.get(keyId);
      if (key === undefined) throw new UnknownKeyError();
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(associated)
        .setAuthTag(tag);
      return Buffer.concat([decipher.update(data), decipher.final()]);
    },
  };
}
