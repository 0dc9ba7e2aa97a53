/** Results that callers share: one that costs Temporal dozens of calls is made once, however many ask for it within some seconds. */

/** The newest results that are kept. The key may contain what a caller wrote. */
const MOST_KEPT = 100;

export class SharedResults<Result> {
  readonly #keepMs: number;
  readonly #kept = new Map<string, { until: number; result: Promise<Result> }>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** Returns the kept result, or makes it. A failed one isn't kept. */
  get(key: string, nowMs: number, make: () => Promise<Result>): Promise<Result> {
    const known = this.#kept.get(key);
    if (known !== undefined && nowMs < known.until) return known.result;
    const entry = { until: nowMs + this.#keepMs, result: make() };
    entry.result.catch(() => {
      if (this.#kept.get(key) === entry) this.#kept.delete(key);
    });
    // At the end of the map, which has the oldest first.
    this.#kept.delete(key);
    this.#kept.set(key, entry);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > MOST_KEPT) this.#kept.delete(oldest);
    return entry.result;
  }
}
