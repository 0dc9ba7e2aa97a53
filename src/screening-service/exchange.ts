/** One HTTP exchange with the screening service: timeouts, size limits, and removal of secrets from texts. */
import { FetchError } from 'node-fetch';
import { withoutCardNumbers } from '../card-data/card-numbers.ts';
import { type Operation, type Reason, ScreeningError } from './errors.ts';
import { type HttpResponse, type Machine, PROXY_REFUSED } from './machine.ts';

/** An uninterpreted reply of the screening service. */
export interface Reply {
  status: number;
  text: string;
  retryAfterMs?: number | undefined;
}

interface Exchange {
  operation: Operation;
  url: string;
  headers?: Record<string, string>;
  /** Sent as JSON by POST. Without a body the request is a GET. */
  body?: unknown;
  timeoutMs: number;
}

/** Replies of the screening service are small; a larger one comes from another server. */
const MAX_REPLY_BYTES = 512 * 1024;

/**
 * Sends one request and reads the whole reply, without following redirects. The timeout covers everything from connecting to the last
 * byte. Rejects only with `ScreeningError`, without details of node-fetch's errors, which contain the address.
 */
export async function exchange(
  machine: Machine,
  { operation, url, headers, body, timeoutMs }: Exchange,
): Promise<Reply> {
  const late = new AbortController();
  const inTime = machine.after(timeoutMs, () => late.abort());
  let response: HttpResponse | undefined;
  try {
    response = await machine.fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'user-agent': 'order-screening',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      size: MAX_REPLY_BYTES,
      signal: late.signal,
    });
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), machine.now());
    const text = await readText(response);
    return { status: response.status, text, retryAfterMs };
  } catch (error) {
    if (late.signal.aborted) throw new ScreeningError({ operation, outcome: 'unknown', reason: 'timeout' });
    const reason = response === undefined ? requestReason(error) : bodyReason(error);
    const outcome = NEVER_SENT.has(reason) ? 'not-done' : 'unknown';
    throw new ScreeningError({ operation, outcome, reason, status: response?.status });
  } finally {
    inTime();
  }
}

/** Reads the body. With an error status such as 429 or 503 a truncated body is ignored, since the status is enough. */
async function readText(response: HttpResponse): Promise<string> {
  if (response.status < 400) return await response.text();
  return await response.text().catch(() => '');
}

const NEVER_SENT: ReadonlySet<Reason> = new Set(['connection-refused', 'dns', 'tls', 'unreachable', 'proxy']);

const CODES: Record<string, Reason> = {
  ECONNREFUSED: 'connection-refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  [PROXY_REFUSED]: 'proxy',
  // Certificate errors, which are detected before anything is sent.
  CERT_HAS_EXPIRED: 'tls',
  CERT_NOT_YET_VALID: 'tls',
  CERT_REVOKED: 'tls',
  CERT_REJECTED: 'tls',
  CERT_UNTRUSTED: 'tls',
  CERT_SIGNATURE_FAILURE: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls',
};

/** Without a system call, these mean that no address of a name with several could be connected to. Errors of a connection have one. */
const UNREACHABLE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);

const HANDSHAKE = /wrong version number|unsupported protocol|alert protocol version|handshake failure/;

/** @returns why a node-fetch request got no reply. The caller handles timeouts */
export function requestReason(error: unknown): Reason {
  if (!(error instanceof FetchError)) return 'reset';
  const known = error.code === undefined ? undefined : CODES[error.code];
  if (known !== undefined) return known;
  // EPROTO can also occur in the middle of a reply. Only these messages occur before anything is sent.
  if (error.code === 'EPROTO' && HANDSHAKE.test(error.message)) return 'tls';
  const { code = '' } = error;
  // node-fetch's types lack this property.
  const call = Reflect.get(error, 'erroredSysCall');
  if (call === 'connect' || (call === undefined && UNREACHABLE.has(code))) return 'unreachable';
  return code.startsWith('HPE_') ? 'malformed-reply' : 'reset';
}

function bodyReason(error: unknown): Reason {
  return error instanceof FetchError && error.type === 'max-size' ? 'too-large' : 'truncated';
}

/**
 * Converts Retry-After, in seconds or as a date (RFC 9110, 10.2.3), to milliseconds from `now` (epoch milliseconds). Some servers send
 * fractions of seconds, which `Date.parse` takes for a day: 32.5 is in May 2032.
 */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(header)) return Math.ceil(Number(header) * 1000);
  const date = /^\s*[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const MAX_WORDS = 10;
const MAX_LENGTH = 300;

/**
 * Makes messages of the screening service safe to show and store: bounded, and without submitted data that they may repeat: the
 * given secrets, card numbers, URLs (which may contain the key) and e-mail addresses.
 */
export function scrubWords(words: readonly string[], secrets: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => scrub(word, secrets));
}

/** Removes the given secrets and card numbers from a text, and cuts it at 3,000 characters. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // A reply may be large, so the patterns run on its beginning only.
  let clean = text.slice(0, 10 * MAX_LENGTH);
  for (const secret of secrets) {
    for (const spelling of new Set([secret, encodeURIComponent(secret)])) {
      if (spelling.length > 0) clean = clean.replaceAll(wholeWord(spelling), '[removed]');
    }
  }
  return withoutCardNumbers(clean.replace(/\d(?:[ -]?\d){12,}/g, '[removed]'));
}

function scrub(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets)
    .replace(/[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi, '[address removed]')
    .replace(/[^\s@<>"']{1,128}@[^\s@<>"']{1,128}/g, '[e-mail removed]')
    .slice(0, MAX_LENGTH);
}

/** Matches a long secret anywhere, and a short one, such as a card code, only as a whole word. */
function wholeWord(secret: string): RegExp {
  const literal = secret.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return secret.length >= 8
    ? new RegExp(literal, 'gi')
    : new RegExp(`(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`, 'gi');
}
