import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A folder with what the image holds: the files that the Dockerfile copies, and the dependencies without those of development. */
export interface Image {
  /** How `docker run` would start a process of it: there, and as a user without rights where that can be chosen. */
  spawn: { cwd: string; uid?: number };
  remove(): Promise<void>;
}

/** Makes the folder by the Dockerfile's COPY lines, in the order in which they stand, and then what it runs with Node. */
export async function makeImage(): Promise<Image> {
  const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-image-'));
  for (const [, sources = '', target = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)) {
    for (const source of sources.split(' ')) {
      const to = target.endsWith('/') ? join(folder, target, source) : join(folder, target);
      await cp(join(ROOT, source), to, { recursive: true });
    }
  }
  await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder });
  for (const [, command = ''] of dockerfile.matchAll(/^RUN (node .+)$/gm)) {
    await run('sh', ['-c', command], { cwd: folder });
  }
  await chmod(folder, 0o755);
  const root = process.getuid?.() === 0;
  const uid = root ? Number((await run('id', ['-u', 'nobody'])).stdout.trim()) : undefined;
  return {
    spawn: { cwd: folder, ...(uid !== undefined && { uid }) },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
