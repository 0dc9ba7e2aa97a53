import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtBefore, goBuild, userCacheDir } from '../../src/dev/go-build.ts';
import { environmentWith } from './fake-commands.ts';
import { quiet } from './quiet-progress.ts';

/** A `go` of that version whose build notes that it ran, writes `built` (or fails), and names a package. */
function fakeGo(version: string, build = 'while [ "$1" != -o ]; do shift; done; echo built > "$2"'): string {
  return `
    if [ "$1" = env ]; then echo go${version}; exit; fi
    echo build >> "$XDG_CACHE_HOME/builds"
    echo "go: downloading example.org/module v1.0.0" >&2
    ${build}`;
}

async function builds(env: NodeJS.ProcessEnv): Promise<number> {
  const log = await readFile(join(env.XDG_CACHE_HOME ?? '', 'builds'), 'utf8').catch(() => '');
  return log.split('\n').length - 1;
}

test('the server is built once, into the cache, and found there afterwards', async () => {
  const env = await environmentWith({ go: fakeGo('1.26.0') });

  const path = await goBuild(quiet, env);
  const again = await goBuild(quiet, env);

  expect(await readFile(path, 'utf8')).toBe('built\n');
  expect(path).toMatch(/order-screening\/temporal-1\.5\.1-[0-9a-f]{12}\/temporal$/);
  expect(again).toBe(path);
  expect(await builds(env)).toBe(1);
});

test('what is in the cache is used also when Go is gone, and is known as built before', async () => {
  const env = await environmentWith({ go: fakeGo('1.26.0') });
  await expect(builtBefore(env)).rejects.toThrow('not built yet');
  const path = await goBuild(quiet, env);

  expect(await goBuild(quiet, { ...env, PATH: '/nowhere' })).toBe(path);
  expect(await builtBefore(env)).toBe(path);
});

test('two who ask at once share one build', async () => {
  const env = await environmentWith({ go: fakeGo('1.26.0') });

  const [one, other] = await Promise.all([goBuild(quiet, env), goBuild(quiet, env)]);

  expect(one).toBe(other);
  expect(await builds(env)).toBe(1);
});

test('the first build says that it takes minutes', async () => {
  const env = await environmentWith({ go: fakeGo('1.26.0') });
  const said: string[] = [];

  await goBuild({ say: (line) => said.push(line), tick: () => {} }, env);

  expect(said[0]).toMatch(/The first build takes a few minutes/);
});

test('a Go that is too old is refused with both versions, and nothing is built', async () => {
  const env = await environmentWith({ go: fakeGo('1.21.5') });

  await expect(goBuild(quiet, env)).rejects.toThrow('Go 1.21.5 is too old; 1.26.0 or newer is needed');
  expect(await builds(env)).toBe(0);
});

test('no Go is said so', async () => {
  await expect(goBuild(quiet, await environmentWith({}))).rejects.toThrow('Go is not installed');
});

test('a build that fails gives its last lines and leaves nothing that looks finished', async () => {
  const env = await environmentWith({ go: fakeGo('1.26.0', 'echo "no space left on device" >&2; exit 1') });

  await expect(goBuild(quiet, env)).rejects.toThrow(/go build ended with exit code 1: .*no space left/s);

  const left = await readdir(userCacheDir(env), { recursive: true });
  expect(left.filter((name) => name.endsWith('/temporal'))).toEqual([]);
  await expect(goBuild(quiet, env)).rejects.toThrow(/no space left/);
});
