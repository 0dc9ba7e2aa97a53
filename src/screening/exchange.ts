/** One HTTP exchange with the service: time-outs, sizes, and words with nothing secret in them. */
import http from 'node:http';
import https from 'node:https';
import fetch, { FetchError, type Response } from 'node-fetch';
import { type Operation, type Reason, ScreeningError } from './errors.ts';

/** A reply of the service, before anybody made sense of it. */
export interface Reply {
  status: number;
  text: string;
  retryAfterMs?: number;
}

export interface Exchange {
  operation: Operation;
  url: string;
  /** Sent as JSON by POST; without one it is a GET. */
  body?: unknown;
  timeoutMs: number;
}

/** Replies are small; a larger one is no reply of the service. */
const MAX_REPLY_BYTES = 512 * 1024;

/**
 * Idle connections are given up after 4 s: many servers close them after 5 s, and a request sent just then would be
 * lost with an unknown outcome.
 */
const AGENT_OPTIONS = { keepAlive: true, timeout: 4_000 };
const httpAgent = new http.Agent(AGENT_OPTIONS);
const httpsAgent = new https.Agent(AGENT_OPTIONS);

/**
 * Sends one request and reads the whole reply, following no redirect. The time-out covers everything from connecting
 * to the last byte. Rejects with `ScreeningError` only; what node-fetch throws holds the address, so nothing of it is kept.
 */
export async function exchange({ operation, url, body, timeoutMs }: Exchange): Promise<Reply> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  let response: Response | undefined;
  try {
    response = await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'user-agent': 'order-screening',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      agent: ({ protocol }: URL) => (protocol === 'http:' ? httpAgent : httpsAgent),
      redirect: 'manual',
      size: MAX_REPLY_BYTES,
      signal: late.signal,
    });
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), Date.now());
    const text = await readText(response);
    return { status: response.status, text, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  } catch (error) {
    if (late.signal.aborted) throw new ScreeningError({ operation, outcome: 'unknown', reason: 'timeout' });
    const reason = response === undefined ? requestReason(error) : bodyReason(error);
    const outcome = NEVER_SENT.has(reason) ? 'not-done' : 'unknown';
    const status = response === undefined ? {} : { status: response.status };
    throw new ScreeningError({ operation, outcome, reason, ...status });
  } finally {
    clearTimeout(timer);
  }
}

/** A status such as 429 or 503 is an answer by itself, also when the words behind it are cut short. */
async function readText(response: Response): Promise<string> {
  if (response.status < 400) return await response.text();
  return await response.text().catch(() => '');
}

const NEVER_SENT: ReadonlySet<Reason> = new Set(['connection-refused', 'dns', 'tls', 'unreachable']);

const CODES: Record<string, Reason> = {
  ECONNREFUSED: 'connection-refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  // Faults of the server's certificate, found before anything is sent.
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

const HANDSHAKE = /wrong version number|unsupported protocol|alert protocol version|handshake failure/;

function requestReason(error: unknown): Reason {
  if (!(error instanceof FetchError)) return 'reset';
  const known = error.code === undefined ? undefined : CODES[error.code];
  if (known !== undefined) return known;
  // EPROTO may also come in the middle of a reply; only these words are said before anything is sent.
  if (error.code === 'EPROTO' && HANDSHAKE.test(error.message)) return 'tls';
  // A field of node-fetch's error that its types leave out.
  if (Reflect.get(error, 'erroredSysCall') === 'connect') return 'unreachable';
  return error.code?.startsWith('HPE_') ? 'malformed-reply' : 'reset';
}

function bodyReason(error: unknown): Reason {
  return error instanceof FetchError && error.type === 'max-size' ? 'too-large' : 'truncated';
}

/** Retry-After in milliseconds from `now` (epoch milliseconds): it comes in seconds or as a date (RFC 9110, 10.2.3). */
function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const MAX_WORDS = 10;
const MAX_LENGTH = 300;

/**
 * Makes the service's words fit to be shown and kept: bounded, and without anything of what was sent that the
 * service might repeat: the given secrets, card numbers, addresses (they may hold the key) and e-mail addresses.
 */
export function scrubWords(words: readonly string[], secrets: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => scrub(word, secrets));
}

/** Takes out the given secrets and card numbers, and leaves the rest of a text as it is, up to 3,000 characters. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The service's reply is bounded, but not by much: the patterns see a piece of it only.
  let clean = text.slice(0, 10 * MAX_LENGTH);
  for (const secret of secrets) {
    for (const spelling of new Set([secret, encodeURIComponent(secret)])) {
      if (spelling.length > 0) clean = clean.replaceAll(wholeWord(spelling), '[removed]');
    }
  }
  return clean.replace(/\d(?:[ -]?\d){12,}/g, '[removed]');
}

function scrub(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets)
    .replace(/[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi, '[address removed]')
    .replace(/[^\s@<>"']{1,128}@[^\s@<>"']{1,128}/g, '[e-mail removed]')
    .slice(0, MAX_LENGTH);
}

/** Long secrets go wherever they stand; a short one, such as a card code, only as a word of its own. */
function wholeWord(secret: string): RegExp {
  const literal = secret.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return secret.length >= 8
    ? new RegExp(literal, 'gi')
    : new RegExp(`(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`, 'gi');
}

// What the service itself says in the body of a reply, as told from the page of a proxy in between.

const LOOK_UPS: ReadonlySet<Operation> = new Set(['status', 'status-by-url', 'status-by-invoice']);
const SCREENING: ReadonlySet<Operation> = new Set([...LOOK_UPS, 'create-transaction', 'gateway-response']);

/** @returns whether the operation only reads */
export function isLookUp(operation: Operation): boolean {
  return LOOK_UPS.has(operation);
}

/** @returns the texts of `Errors`, or of the portal's `code` and `message`; none: the service didn't say it */
export function ownWords(body: Record<string, unknown>, operation: Operation): string[] {
  if (Array.isArray(body.Errors)) return body.Errors.filter(isText);
  const { code, message } = body;
  if (SCREENING.has(operation) || !isText(message)) return [];
  if (typeof code === 'number') return [message];
  return isText(code) ? [message, code] : [];
}

const NOT_AUTHORIZED = /^not authori[sz]ed\.?$/i;
const MAY_NOT = /\b(?:not authori[sz]ed|unauthori[sz]ed)\b/i;
const FAULTY = 'invalid|not valid|unknown|wrong|incorrect|expired|revoked|missing|not recogni[sz]ed';
const FAULTY_KEY = new RegExp(
  `\\b(?:${FAULTY})\\b.{0,40}\\b(?:token|(?:api ?)?key)\\b|\\b(?:token|(?:api ?)?key)\\b.{0,40}\\b(?:${FAULTY})\\b`,
  'i',
);

/** @returns whether a refusal is about our key, and not about what was sent with it: how the portal says that isn't known */
export function isAboutKey(words: readonly string[], operation: Operation): boolean {
  return words.some((word) => {
    const text = word.replaceAll(/[_-]/g, ' ').trim();
    if (SCREENING.has(operation)) return NOT_AUTHORIZED.test(text);
    return FAULTY_KEY.test(text) || (MAY_NOT.test(text) && !/\btransaction\b/i.test(text));
  });
}

/** @returns whether the service says that there is no such transaction, after which another may be created */
export function saysNoTransaction(words: readonly string[]): boolean {
  return words.some((word) => /^transaction not found\.?$/i.test(word.trim()));
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
