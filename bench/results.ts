/** What a run leaves behind. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Figure, Part } from './figures.ts';
import type { SizeName } from './sizes.ts';

export interface BenchResult {
  startedAt: string;
  tookSeconds: number;
  /** Of the working copy; ends with `+` when files were changed. */
  commit: string;
  size: SizeName;
  parts: readonly Part[];
  machine: { cpus: number; memoryGb: number; platform: string; node: string };
  figures: Figure[];
}

const FOLDER = join(import.meta.dirname, 'results');

export async function resultOf(
  run: Pick<BenchResult, 'startedAt' | 'tookSeconds' | 'size' | 'parts' | 'figures'>,
): Promise<BenchResult> {
  return {
    ...run,
    commit: await commitOfCopy(),
    machine: {
      cpus: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      platform: platform(),
      node: process.version,
    },
  };
}

/** Keeps a result in `bench/results/`. @returns the file */
export async function keep(result: BenchResult): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const commit = result.commit.replace('+', '-changed');
  const second = result.startedAt.slice(0, 19).replaceAll(':', '');
  const file = join(FOLDER, `${second}-${commit}.json`);
  await write(file, result);
  return file;
}

export async function write(file: string, result: BenchResult): Promise<void> {
  await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
}

async function commitOfCopy(): Promise<string> {
  const git = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('git', args, { cwd: import.meta.dirname });
    return stdout.trim();
  };
  try {
    const changed = await git('status', '--porcelain', '--untracked-files=no');
    return `${await git('rev-parse', '--short=10', 'HEAD')}${changed === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}
