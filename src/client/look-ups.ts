/** An order's transaction doesn't move: a flood of webhooks about one asks visibility, which is slow and limited, once in a while. */
const KEPT_MS = 5_000;

/** Look-ups of what is kept for a short time once it is found. Those that come meanwhile share one. */
export class LookUps<Found> {
  readonly #known = new Map<string, Promise<Found | undefined>>();

  /** @returns what `ask` found under the key, now or a moment ago; what wasn't found is asked for again */
  find(key: string, ask: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const asked = ask();
    this.#known.set(key, asked);
    const forget = (): void => void this.#known.delete(key);
    asked.then((found) => {
      if (found === undefined) forget();
      else setTimeout(forget, KEPT_MS).unref();
    }, forget);
    return asked;
  }
}
