import { setTimeout as sleep } from 'node:timers/promises';

/** What takes seconds isn't asked for all the time. */
const LONGEST_PAUSE_MS = 200;

/**
 * Calls `probe` until it neither throws nor returns `false`, and returns what it returned.
 *
 * @param options.intervalMs the first pause; each is a fifth longer than the one before, up to 200 ms
 * @throws the probe's last error, or an Error that says it stayed false, after `timeoutMs` (10 s unless given)
 */
export async function eventually<T>(
  probe: () => T | false | Promise<T | false>,
  { timeoutMs = 10_000, intervalMs = 25 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let pauseMs = intervalMs;
  for (;;) {
    let failure: unknown;
    try {
      const result = await probe();
      if (result !== false) return result;
      failure = new Error(`the condition stayed false for ${timeoutMs} ms`);
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadline) throw failure;
    await sleep(pauseMs);
    pauseMs = Math.max(intervalMs, Math.min(pauseMs * 1.2, LONGEST_PAUSE_MS));
  }
}
