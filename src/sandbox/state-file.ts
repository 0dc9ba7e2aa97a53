import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../error-code.ts';
import { ledgerEntrySchema } from './model.ts';
import { stateSnapshotSchema } from './state.ts';

const stateFileSchema = z.object({ state: stateSnapshotSchema, ledger: z.array(ledgerEntrySchema) });
export type SavedState = z.infer<typeof stateFileSchema>;

/** A file is rewritten as a whole: at most so often, and never for more than a twentieth of the time. */
const MIN_PAUSE_MS = 250;
const PAUSE_PER_WRITE = 20;

/** Keeps the sandbox's state in one JSON file, so that a restart goes on. Each write replaces it at once. */
export class StateFile {
  private readonly path: string;
  private readonly snapshot: () => SavedState;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private pauseMs = MIN_PAUSE_MS;

  constructor(path: string, snapshot: () => SavedState) {
    this.path = path;
    this.snapshot = snapshot;
  }

  /** What was saved, or undefined when there is no file yet. Throws, naming the file, when it can't be read. */
  async load(): Promise<SavedState | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return stateFileSchema.parse(JSON.parse(text));
    } catch {
      throw new Error(`The sandbox's state file can't be read; move it away to begin anew: ${this.path}`);
    }
  }

  /** Asks for a write soon; many changes make one write. */
  changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.writing = this.writing
        .then(() => this.write())
        .catch((error: unknown) => console.error('sandbox: the state was not saved:', error));
    }, this.pauseMs);
  }

  /** Writes what is unsaved, now. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.writing;
    await this.write();
  }

  private async write(): Promise<void> {
    const began = performance.now();
    const beside = `${this.path}.new`;
    await mkdir(dirname(this.path), { recursive: true });
    await writeFile(beside, JSON.stringify(this.snapshot()));
    await rename(beside, this.path);
    this.pauseMs = Math.max(MIN_PAUSE_MS, (performance.now() - began) * PAUSE_PER_WRITE);
  }
}
