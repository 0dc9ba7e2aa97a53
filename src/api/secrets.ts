import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares in constant time, whatever the lengths, and with every secret, so that time doesn't tell which one it was.
 * @returns whether `given` is one of the secrets; never when there are none
 */
export function isOneOf(secrets: readonly string[], given: string | undefined): boolean {
  const hash = digest(given ?? '');
  const matches = secrets.map((secret) => timingSafeEqual(digest(secret), hash));
  return given !== undefined && matches.includes(true);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
