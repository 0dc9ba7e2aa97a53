/** Shows what was read last while it is read again. */
import { LookUps } from '../../client/lists/look-ups.ts';

const READ_AGAIN_MS = 5_000;
const STALE_MS = 30_000;
/** By key; the oldest are dropped. */
const MOST = 10;

/** Values by key, each read again when it is 5 s old, and shown meanwhile until it is 30 s old. */
export class Kept<Value> {
  #reads = new LookUps<Value>(READ_AGAIN_MS, MOST);
  /** `atMs`: when it was asked for. */
  readonly #last = new Map<string, { value: Value; atMs: number }>();
  #forgottenAtMs = 0;

  /** Returns what was read last, or waits if that is too old or forgotten. Rejects as the read does. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const last = this.#last.get(key);
    const reading = this.#reads.find(key, () => this.#read(key, read));
    if (last === undefined || last.atMs <= Math.max(this.#forgottenAtMs, Date.now() - STALE_MS))
      return reading;
    reading.catch(() => undefined);
    return last.value;
  }

  /** Returns what was read last, however old; undefined if it was never read. */
  last(key: string): Value | undefined {
    return this.#last.get(key)?.value;
  }

  /** Makes the next call wait for a new read. */
  forget(): void {
    this.#forgottenAtMs = Date.now();
    this.#reads = new LookUps(READ_AGAIN_MS, MOST);
  }

  async #read(key: string, read: () => Promise<Value>): Promise<Value> {
    const atMs = Date.now();
    const value = await read();
    this.#last.delete(key);
    this.#last.set(key, { value, atMs });
    const [oldest = ''] = this.#last.keys();
    if (this.#last.size > MOST) this.#last.delete(oldest);
    return value;
  }
}
