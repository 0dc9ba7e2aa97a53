import { createHash, timingSafeEqual } from 'node:crypto';
import type { HashedKey } from '../config.ts';

/**
 * Compares in constant time, whatever the lengths, and with every secret, so that time doesn't tell which one it was.
 * @returns whether `given` is one of the secrets; never when there are none
 */
export function isOneOf(secrets: readonly string[], given: string | undefined): boolean {
  const hash = digest(given ?? '');
  const matches = secrets.map((secret) => timingSafeEqual(digest(secret), hash));
  return given !== undefined && matches.includes(true);
}

/** Compares as `isOneOf` does. @returns the name of the key that was given, or undefined when it is none of them */
export function nameOfKey(keys: readonly HashedKey[], given: string | undefined): string | undefined {
  const sent = digest(given ?? '');
  const matches = keys.filter(({ hash }) => timingSafeEqual(hash, sent));
  return given === undefined ? undefined : matches[0]?.name;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
