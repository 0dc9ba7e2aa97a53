import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is deleted when the test is over. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * An environment whose PATH holds only these commands, given as shell scripts, beside the system's `/bin`, and whose
 * cache is empty.
 */
export async function environmentWith(commands: Record<string, string>): Promise<NodeJS.ProcessEnv> {
  const folder = await scratchFolder();
  for (const [name, script] of Object.entries(commands)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  }
  return { PATH: `${folder}:/bin`, XDG_CACHE_HOME: await scratchFolder() };
}
