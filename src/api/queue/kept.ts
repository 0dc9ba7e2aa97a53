/** What was read last, by key: at most 10 keys. It is read again when it is 5 s old, and shown meanwhile until it is 30 s old. */
const READ_AGAIN_MS = 5_000;
const STALE_MS = 30_000;
const MOST = 10;

interface Found<Value> {
  value: Value;
  /** When it was asked for. */
  atMs: number;
}

export class Kept<Value> {
  readonly #found = new Map<string, Found<Value>>();
  #reading = new Map<string, Promise<Value>>();
  #forgottenAtMs = 0;

  /** Returns what was read last, or waits if that is too old or forgotten. Rejects as the read does. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const nowMs = Date.now();
    const last = this.#found.get(key);
    const isGood = last !== undefined && last.atMs > this.#forgottenAtMs && nowMs - last.atMs < STALE_MS;
    if (isGood && nowMs - last.atMs < READ_AGAIN_MS) return last.value;
    const reading = this.#reading.get(key) ?? this.#readAgain(key, read);
    if (!isGood) return reading;
    reading.catch(() => undefined);
    return last.value;
  }

  /** Returns what was read last, however old; undefined if it was never read. */
  last(key: string): Value | undefined {
    return this.#found.get(key)?.value;
  }

  /** Makes the next call wait for a new read. */
  forget(): void {
    this.#forgottenAtMs = Date.now();
    this.#reading = new Map();
  }

  #readAgain(key: string, read: () => Promise<Value>): Promise<Value> {
    const atMs = Date.now();
    const running = this.#reading;
    const reading = read().then((value) => {
      this.#found.delete(key);
      this.#found.set(key, { value, atMs });
      const [oldest = ''] = this.#found.keys();
      if (this.#found.size > MOST) this.#found.delete(oldest);
      return value;
    });
    running.set(key, reading);
    const forget = () => running.delete(key);
    reading.then(forget, forget);
    return reading;
  }
}
