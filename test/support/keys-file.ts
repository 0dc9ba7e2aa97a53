import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Writes a file for `API_KEYS_FILE`. @returns its path */
export function keysFile(...keys: GivenKey[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'order-screening-keys-')), 'keys.json');
  writeFileSync(file, JSON.stringify(keys.map(keyEntry)));
  return file;
}
