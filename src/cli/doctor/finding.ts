/** A finding of the doctor, and what its checks share. */
import fetch, { type RequestInit, type Response } from 'node-fetch';

/** How long a check waits for an answer. */
export const CHECK_WITHIN_MS = 5_000;
const MAX_REPLY_BYTES = 1024 * 1024;

/** What a check says. No secret, no personal data, of an address that may hold a secret only the origin. */
export interface Verdict {
  status: 'ok' | 'warning' | 'error' | 'skipped';
  /** What is so, or what is wrong. */
  what: string;
  /** What to do about it. */
  todo?: string;
}

export interface Finding extends Verdict {
  /** What was checked, a stable slug. */
  check: string;
}

export const ok = (what: string): Verdict => ({ status: 'ok', what });
export const skipped = (what: string): Verdict => ({ status: 'skipped', what });
export const warning = (what: string, todo: string): Verdict => ({ status: 'warning', what, todo });
export const failed = (what: string, todo: string): Verdict => ({ status: 'error', what, todo });

/** Several verdicts; one that is about another subject than its check names that. */
export type Verdicts = Verdict | (Verdict | Finding)[];

/**
 * Runs a check. One that fails must not hide what the others find.
 * @param silent what to say when the check fails because a server doesn't tell; it is an error unless given
 */
export async function find(
  check: string,
  look: () => Verdicts | Promise<Verdicts>,
  silent?: string,
): Promise<Finding[]> {
  try {
    return [await look()].flat().map((verdict) => ({ check, ...verdict }));
  } catch (error) {
    if (silent !== undefined) return [{ check, ...skipped(silent) }];
    const kind = error instanceof Error ? error.name : 'unknown error';
    return [{ check, ...failed(`can't be looked at (${kind})`, 'Check that this user may ask it') }];
  }
}

/** Returns a number of things in words: `1 worker`, `2 workers`. */
export function counted(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

/** Returns what may be shown of an address: a path may hold a secret. */
export function originOf(address: string): string {
  return new URL(address).origin;
}

/** Returns the response, read to its end, or undefined when there is none. */
export async function ask(url: string, request: RequestInit = {}): Promise<Response | undefined> {
  const signal = AbortSignal.timeout(CHECK_WITHIN_MS);
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    size: MAX_REPLY_BYTES,
    signal,
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response;
}
