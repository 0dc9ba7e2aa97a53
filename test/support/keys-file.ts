import { createHash } from 'node:crypto';
import { SCOPES, type Scope } from '../../src/config/index.ts';

/** A key as a test has it. */
export interface GivenKey {
  name: string;
  key: string;
  /** All unless given. */
  scopes?: readonly Scope[];
  integrations?: readonly string[];
}

/** @returns an entry of the file that `API_KEYS_FILE` names */
export function keyEntry({ name, key, scopes = SCOPES, integrations }: GivenKey) {
  const sha256 = createHash('sha256').update(key).digest('hex');
  return { name, sha256, scopes, ...(integrations && { integrations }) };
}

/** @returns what stands in that file */
export const keysFile = (...keys: readonly GivenKey[]) => JSON.stringify(keys.map(keyEntry));
