import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sdkDownload, userCacheDir } from '../../../src/dev/temporal-binary.ts';

const POM = fileURLToPath(new URL('../../../tools/temporal-test-server/pom.xml', import.meta.url));
const MAVEN_TIMEOUT_MS = 10 * 60_000;

// `exec`, so that the SDK stops Java when it stops the script. The flags halve Java's start on a small machine.
const WRAPPER = `#!/bin/sh
here=$(dirname "$0")
exec java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$here/lib/*" io.temporal.testserver.TestServer "$@"
`;

/**
 * The path of the time-skipping test server's executable: a copy in the user's cache, else the SDK's own download,
 * else Java's from Maven Central, as `tools/temporal-test-server/pom.xml` pins it.
 *
 * @throws Error naming both ways and why each failed
 */
export async function findTimeSkippingServer(): Promise<string> {
  const pom = createHash('sha256').update(await readFile(POM));
  const folder = join(userCacheDir(), `temporal-test-server-${pom.digest('hex').slice(0, 12)}`);
  const wrapper = join(folder, 'temporal-test-server');
  if (existsSync(wrapper)) return wrapper;
  const refused = await sdkDownload('time-skipping').catch((error: Error) => error);
  if (typeof refused === 'string') return refused;
  console.error("Fetching Temporal's time-skipping test server with Maven; it is kept after that.");
  const failure = await fetchWithMaven(folder);
  // Another run may have filled the folder meanwhile.
  if (failure === undefined || existsSync(wrapper)) return wrapper;
  throw new Error(
    [
      "Temporal's time-skipping test server was not found. Either of these is enough:",
      `  1. The Temporal SDK's download: ${refused.message}. Allow access to https://temporal.download`,
      `  2. Maven Central, with mvn and java: ${failure}.`,
    ].join('\n'),
  );
}

/** Fills the folder at once, by a rename; returns why not, in words. */
async function fetchWithMaven(folder: string): Promise<string | undefined> {
  if (spawnSync('java', ['-version']).status !== 0) return 'java does not run';
  const unfinished = await mkdtemp(`${folder}-`);
  try {
    const goal = ['-f', POM, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
    const args = ['-q', '-B', ...goal, `-DoutputDirectory=${unfinished}/lib`];
    const maven = spawnSync('mvn', args, { timeout: MAVEN_TIMEOUT_MS, encoding: 'utf8' });
    if (maven.status !== 0) return `mvn: ${maven.error?.message ?? maven.stdout.trim().split('\n')[0]}`;
    await writeFile(join(unfinished, 'temporal-test-server'), WRAPPER);
    await chmod(join(unfinished, 'temporal-test-server'), 0o755);
    return await rename(unfinished, folder).then(
      () => undefined,
      (error: Error) => error.message,
    );
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
