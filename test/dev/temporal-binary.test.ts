import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import {
  buildTemporal,
  findTemporalBinary,
  sdkDownload,
  temporalOnPath,
  userCacheDir,
} from '../../src/dev/temporal-binary.ts';
import { environmentWith } from './fake-commands.ts';

const { version: sdk }: { version: string } = createRequire(import.meta.url)(
  '@temporalio/common/package.json',
);

/** No network: nothing listens on port 9. */
const OFFLINE = { HTTPS_PROXY: 'http://127.0.0.1:9' };

const temporal = (server: string) => `echo "temporal version 1.5.1 (Server ${server}, UI 2.42.1)"`;

/** A `go` that notes that it ran, prints a line as `go build -v` does, and writes the binary. */
const GO = `
  echo build >> "$XDG_CACHE_HOME/builds"
  echo "go: downloading example.org/module v1.0.0" >&2
  while [ "$1" != -o ]; do shift; done
  echo "built $3" > "$2"`;
const BROKEN_GO = 'echo "no space left on device" >&2; exit 1';

async function builds({ XDG_CACHE_HOME = '' }: NodeJS.ProcessEnv): Promise<number> {
  const log = await readFile(join(XDG_CACHE_HOME, 'builds'), 'utf8').catch(() => '');
  return log.split('\n').length - 1;
}

const downloadsIn = (env: NodeJS.ProcessEnv) => join(userCacheDir(env), `sdk-${sdk}-dev-server`);

async function cacheDownload(env: NodeJS.ProcessEnv): Promise<string> {
  const file = join(downloadsIn(env), `temporal-sdk-typescript-${sdk}`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
  return file;
}

test('temporal on the PATH comes first, then a build that exists, then a download that exists', async () => {
  const env = { ...(await environmentWith({ go: GO })), ...OFFLINE };
  const downloaded = await cacheDownload(env);
  expect(await findTemporalBinary(env)).toBe(downloaded);
  expect(await builds(env)).toBe(0);
  const built = await buildTemporal('temporal', env);
  expect(await findTemporalBinary({ ...env, PATH: '/bin' })).toBe(built);
  const { PATH } = await environmentWith({ temporal: temporal('1.29.1') });
  expect(await findTemporalBinary({ ...env, PATH })).toBe('temporal');
});

test('a download that fails leaves nothing in the cache, and a build follows', async () => {
  const env = { ...(await environmentWith({ go: GO })), ...OFFLINE };

  await expect(sdkDownload('dev-server', env)).rejects.toThrow(
    /failed to download .*https:\/\/temporal\.download/,
  );
  expect(await readdir(downloadsIn(env))).toEqual([]);

  const found = await findTemporalBinary(env);
  expect(found).toMatch(/order-screening\/temporal-1\.5\.1-[0-9a-f]{12}\/temporal$/);
  expect(await readFile(found, 'utf8')).toBe('built github.com/temporalio/cli/cmd/temporal\n');
});

test('without any server the error lists all four ways, why each failed, and what to do', async () => {
  const failure = findTemporalBinary({ ...(await environmentWith({})), ...OFFLINE });

  for (const line of [
    /^No Temporal server was found\. Any one of these is enough:\n/,
    /^ {2}1\. TEMPORAL_ADDRESS .*: not set\. Set it to the address/m,
    /^ {2}2\. temporal on PATH: .* ENOENT\. Install the Temporal CLI: /m,
    /^ {2}3\. .* download: .*failed to download.*\. Allow access to /m,
    /^ {2}4\. .*build\.sh: Go is not installed\. Install Go: /m,
  ]) {
    await expect(failure).rejects.toThrow(line);
  }
});

test.each([
  ['exit 126', 'Command failed: temporal --version'],
  [temporal('1.25.0'), 'its server 1.25 is too old; 1.28 or newer is needed'],
  ['echo hello', 'its output names no server version'],
])('a temporal on the PATH that does %s is not taken', async (script, reason) => {
  await expect(temporalOnPath(await environmentWith({ temporal: script }))).rejects.toThrow(reason);
});

test('each program is built once, from its own package, also for two who build at once', async () => {
  const env = await environmentWith({ go: GO });
  const build = (program: Parameters<typeof buildTemporal>[0]) => buildTemporal(program, env);
  const [first, second] = await Promise.all([build('temporal'), build('temporal')]);
  const count = await builds(env);
  expect([second, await build('temporal')]).toEqual([first, first]);
  expect(await builds(env)).toBe(count);
  for (const [program, source] of [
    ['temporal-server', 'server/cmd/server'],
    ['temporal-sql-tool', 'server/cmd/tools/sql'],
  ] as const) {
    expect(await readFile(await build(program), 'utf8')).toBe(`built go.temporal.io/${source}\n`);
  }
});

test('a build that needs sums that are not pinned fails, and leaves them to be committed', async () => {
  const env = await environmentWith({ go: `echo 'example.org/module v1.0.0 h1:sum' >> "$2/go.sum"\n${GO}` });
  await expect(buildTemporal('temporal', env)).rejects.toThrow(
    /go\.sum lacks .*: cp \S+\/go\.sum \S+\/go\.sum/,
  );
  const left = await readdir(userCacheDir(env), { recursive: true });
  expect(left.filter((name) => name.includes('/'))).toEqual([
    expect.stringMatching(/^temporal-[^/]*\/go\.sum$/),
  ]);
});

test('a build that fails gives its last line and leaves no file', async () => {
  const env = await environmentWith({ go: BROKEN_GO });

  const refused = buildTemporal('temporal', env);

  await expect(refused).rejects.toThrow('no space left on device');
  const left = await readdir(userCacheDir(env), { recursive: true });
  expect(left).toEqual([expect.stringMatching(/^temporal-1\.5\.1-\w+$/)]);
});
