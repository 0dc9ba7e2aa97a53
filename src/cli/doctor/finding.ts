/** Findings of the doctor, and helpers of its checks. */
import type { RequestInit } from 'node-fetch';
import { type HttpResponse, MACHINE, proxyFor } from '../../screening-service/index.ts';

export const CHECK_WITHIN_MS = 5_000;
const MAX_REPLY_BYTES = 1024 * 1024;

/** The result of a check. Contains no secret and no personal data; of an address that may contain a secret, only the origin. */
export interface Finding {
  /** The checked subject, a stable slug. Absent until `find` names it, if it is that of the whole check. */
  check?: string;
  status: 'ok' | 'warning' | 'error' | 'skipped';
  what: string;
  todo?: string;
}

export const ok = (what: string): Finding => ({ status: 'ok', what });
export const skipped = (what: string): Finding => ({ status: 'skipped', what });
export const warning = (what: string, todo: string): Finding => ({ status: 'warning', what, todo });
export const failed = (what: string, todo: string): Finding => ({ status: 'error', what, todo });

/**
 * Runs a check. If it throws, the other checks still report.
 * @param explain returns the finding for an error of the check; without it, or if it returns none, the check failed
 */
export async function find(
  check: string,
  look: () => Finding | Finding[] | Promise<Finding | Finding[]>,
  explain?: (error: unknown) => Finding | undefined,
): Promise<Finding[]> {
  try {
    return [await look()].flat().map((finding) => ({ check, ...finding }));
  } catch (error) {
    const explained = explain?.(error);
    if (explained !== undefined) return [{ check, ...explained }];
    const kind = error instanceof Error ? error.name : 'unknown error';
    return [{ check, ...failed(`can't be checked (${kind})`, 'Check that this user has access') }];
  }
}

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Returns the origin of an address, and the proxy that it is reached through. The rest of either may be secret. */
export function originOf(address: string): string {
  const url = new URL(address);
  const proxy = proxyFor(url);
  return proxy === undefined ? url.origin : `${url.origin} through the proxy ${new URL(proxy).origin}`;
}

/** Returns the response, read to its end; undefined without a response. */
export async function ask(url: string, request: RequestInit = {}): Promise<HttpResponse | undefined> {
  const signal = AbortSignal.timeout(CHECK_WITHIN_MS);
  const response = await MACHINE.fetch(url, {
    ...request,
    redirect: 'manual',
    size: MAX_REPLY_BYTES,
    signal,
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response;
}
