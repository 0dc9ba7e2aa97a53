import { createHash, randomBytes } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KeysOfFile, loadConfig } from '../../src/config/index.ts';
import { type GivenKey, keyEntry, keysFile } from '../support/index.ts';
import { faultsIn, least, scratchFile } from './support.ts';

const KEY = 'a-key-that-is-long-enough-for-all';
const write = scratchFile('keys.json');
const fileOf = (...keys: GivenKey[]) => write(keysFile(...keys));
const load = (file: string, more: NodeJS.ProcessEnv = {}) =>
  loadConfig({ ...least, API_KEYS_FILE: file, ...more }).api;
const entry = keyEntry({ name: 'shop', key: KEY });

describe('a key of the list', () => {
  it('has at least 16 characters, and the scopes of an order service and of who looks after orders', () => {
    const listed = (length: number) => ({ ...least, API_KEYS: `shop:${'k'.repeat(length)}` });
    expect(Object.keys(faultsIn(() => loadConfig(listed(15))))).toEqual(['API_KEYS']);
    const key = { name: 'shop', scopes: ['screen', 'read', 'act'], hash: expect.any(Buffer) };
    expect(loadConfig(listed(16)).api.keys).toEqual([key]);
  });
});

describe('the file of keys', () => {
  it('says of each who has it, what it may do and where', () => {
    const file = fileOf(
      { name: 'shop', key: KEY, scopes: ['screen'], integrations: ['default'] },
      { name: 'ops', key: `${KEY}-2`, scopes: ['read', 'act', 'ops'] },
    );
    const hash = createHash('sha256').update(KEY).digest();
    expect(load(file, { API_HOST: '0.0.0.0' })).toMatchObject({
      keysFile: file,
      keys: [
        { name: 'shop', hash, scopes: ['screen'], integrations: ['default'] },
        { name: 'ops', scopes: ['read', 'act', 'ops'] },
      ],
    });
  });

  it('isn’t read by a worker, which serves nobody', () => {
    expect(loadConfig({ ...least, API_KEYS_FILE: '/nowhere/keys.json' }, 'worker').api.keys).toEqual([]);
  });

  const nowhere = { scopes: ['read'], integrations: ['nowhere'] };
  const codec = { scopes: ['codec'], integrations: ['default'] };
  it.each([
    ['no JSON', '{', 'API_KEYS_FILE'],
    ['another thing', { shop: entry }, 'API_KEYS_FILE'],
    ['nothing, which would let in everybody', [], 'API_KEYS_FILE'],
    ['the same key twice', [entry, { ...entry, scopes: ['ops'] }], 'API_KEYS_FILE'],
    ['a key in plain', [{ ...entry, key: KEY }], 'API_KEYS_FILE[0].key'],
    ['a name with a space', [{ ...entry, name: 'a shop' }], 'API_KEYS_FILE[0].name'],
    ['half a hash', [{ ...entry, sha256: 'abc123' }], 'API_KEYS_FILE[0].sha256'],
    ['no scope', [{ ...entry, scopes: [] }], 'API_KEYS_FILE[0].scopes'],
    ['an unknown scope', [{ ...entry, scopes: ['admin'] }], 'API_KEYS_FILE[0].scopes[0]'],
    ['no such integration', [{ ...entry, ...nowhere }], 'API_KEYS_FILE[0].integrations[0]'],
    ['the codec for one integration', [{ ...entry, ...codec }], 'API_KEYS_FILE[0].integrations'],
  ])('with %s is refused, naming the place and no value', (_what, content, path) => {
    const faults = faultsIn(() => load(write(content)));
    expect(Object.keys(faults)).toEqual([path]);
    expect(JSON.stringify(faults)).not.toMatch(/nowhere|admin|abc123|a shop|a-key-that/);
  });

  it.each([
    [0o664, 'live', 'others may change'],
    [0o606, 'live', 'others may change'],
    [0o644, 'live', undefined],
    [0o666, 'test', undefined],
  ])('with the mode %o while an integration is %s: %s', (mode, SCREENING_MODE, words) => {
    const file = fileOf({ name: 'shop', key: KEY });
    chmodSync(file, mode);
    const PAYLOAD_KEYS = `a:${randomBytes(32).toString('base64')}`;
    const urls = { SCREENING_BASE_URL: 'https://a.example', SCREENING_PORTAL_BASE_URL: 'https://a.example' };
    const faults = faultsIn(() => load(file, { SCREENING_MODE, PAYLOAD_KEYS, ...urls }));
    expect(faults).toEqual(words === undefined ? {} : { API_KEYS_FILE: expect.stringContaining(words) });
  });

  it('that isn’t there is a fault, and so is a list beside it', () => {
    expect(faultsIn(() => load('/nowhere/keys.json'))).toEqual({
      API_KEYS_FILE: "names a file that can't be read (ENOENT)",
    });
    const both = () => load(fileOf({ name: 'shop', key: KEY }), { API_KEYS: `shop:${KEY}` });
    expect(Object.keys(faultsIn(both))).toEqual(['API_KEYS']);
  });

  it('is read again as a whole: what is broken changes nothing, and nobody is let in by it', () => {
    const file = fileOf({ name: 'shop', key: KEY });
    const keys = new KeysOfFile(file, new Map([['default', { mode: 'test' }]]), load(file).keys);
    const names = () => keys.current.map(({ name }) => name);
    for (const broken of ['[', '[]', JSON.stringify([entry, { name: 'ops' }])]) {
      write(broken);
      expect(keys.reload()).not.toEqual([]);
      expect(names()).toEqual(['shop']);
      expect(keys.refused).toBe(true);
    }
    fileOf({ name: 'ops', key: KEY });
    expect(keys.reload()).toEqual([]);
    expect(names()).toEqual(['ops']);
    expect(keys.refused).toBe(false);
  });
});
