/** A short-lived cache of visibility queries. Concurrent callers share one query. */
export class LookUps<Found> {
  readonly #keptMs: number;
  readonly #most: number;
  readonly #known = new Map<string, Promise<Found>>();

  /** @param most the most results that are kept; the oldest are dropped. All are kept by default */
  constructor(keptMs: number, most = Number.POSITIVE_INFINITY) {
    this.#keptMs = keptMs;
    this.#most = most;
  }

  /** Returns the cached or new result of `ask` for the key; neither misses nor failures are cached. */
  find(key: string, ask: () => Promise<Found>): Promise<Found> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = ask();
    this.#known.set(key, asked);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > this.#most) this.#known.delete(oldest);
    const forget = (): void => {
      if (this.#known.get(key) === asked) this.#known.delete(key);
    };
    asked.then(
      (found) => (found === undefined ? forget() : setTimeout(forget, this.#keptMs).unref()),
      forget,
    );
    return asked;
  }
}
