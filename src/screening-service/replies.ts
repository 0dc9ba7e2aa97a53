import { z } from 'zod';
import { holdsCardNumber } from '../card-data/card-numbers.ts';
import { sameTransaction } from '../contract/ids.ts';
import type { Enriched } from '../contract/order/state.ts';
import { isRecord } from '../contract/values.ts';
import { DECISIONS, type Decision } from '../contract/words.ts';
import { bytesOf } from '../order/bounds.ts';
import { defined } from '../order/defined.ts';
import {
  isAboutKey,
  type Operation,
  ownWords,
  SCREENING,
  ScreeningError,
  type ScreeningFailure,
  saysNoTransaction,
  saysWrongKey,
} from './errors.ts';
import { type Reply, scrubWords, withoutSecrets } from './exchange.ts';
import { MAX_FREE_TEXT, readInsights } from './insights.ts';
import { toDefinitionSpelling } from './spellings.ts';

/** The request that a reply belongs to. */
export interface Context {
  operation: Operation;
  /** The key and card data that were sent. They are removed from texts of the reply. */
  secrets: readonly string[];
  /** Id of the requested transaction. A reply about a different transaction is an error. */
  transactionId?: string | undefined;
}

/**
 * Reads a Transaction response in either spelling and shape. Unknown or invalid fields are left out, except `id` and `decision`.
 * @throws ScreeningError `missing-id`; `unknown-decision`, which has the id; `other-transaction` if the id isn't the requested one
 */
export function readTransactionResponse(reply: Reply, context: Context): TransactionResponse {
  const body = bodyOfSuccess(reply, context);
  const fields = responseSchema.parse(toDefinitionSpelling(responseSchema, body).value);
  const { id, decision, message = '', account_mode: accountMode, passive_mode: passiveMode } = fields;
  if (id === undefined) throw failure(reply, context, body, { outcome: 'unknown', reason: 'missing-id' });
  requireSame(id, reply, context);
  if (decision === undefined) {
    const verdict = { outcome: 'unknown', reason: 'unknown-decision', transactionId: id } as const;
    throw failure(reply, context, body, verdict);
  }
  const clean = (text: string, limit = MAX_FREE_TEXT) =>
    withoutSecrets(text, context.secrets).slice(0, limit);
  const { insights, leftOut } = readInsights(fields.insights, clean);
  return defined({
    id,
    decision,
    message: message.trim() === '' ? undefined : clean(message, MAX_MESSAGE),
    accountMode,
    passiveMode,
    subStatus: fields.sub_status === undefined ? undefined : clean(fields.sub_status),
    insights,
    insightsLeftOut: leftOut === 0 ? undefined : leftOut,
  });
}

/** Limit of the message for the customer, in characters. */
const MAX_MESSAGE = 1_000;

/** Reads the reply of gateway-response, whose `Status` must be `OK`. `Errors` with HTTP 200 are a refusal, as the portal's are. */
export function readGatewayReply(reply: Reply, context: Context): void {
  const body = bodyOfSuccess(reply, context);
  if (body.Status === 'OK' || body.status === 'OK') return;
  const said = reply.status === 200 ? ownWords(body, context.operation) : [];
  if (said.length === 0) throw failure(reply, context, body, NOT_ITS_OWN);
  throw failure(reply, context, body, saysWrongKey(said) ? WRONG_KEY : BAD_REQUEST);
}

const codeSchema = z.union([
  z.number(),
  z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number),
]);

/**
 * Reads the reply of a portal action. Success requires HTTP 200 and a 2xx `code` (a number or a string) in the body. Any other code
 * with a message is a refusal, and so are `Errors` without a code. The outcome is unknown after 408 and a 5xx code; after 429 the request
 * may be sent again.
 */
export function readPortalReply(reply: Reply, context: Context): PortalReply {
  const body = bodyOfSuccess(reply, context);
  const code = codeSchema.optional().safeParse(body.code);
  if (!code.success || reply.status !== 200) throw failure(reply, context, body, NOT_ITS_OWN);
  const [message] = typeof body.message === 'string' ? scrubWords([body.message], context.secrets) : [];
  if (isSuccess(code.data)) return defined({ code: code.data, message });
  throw failure(reply, context, body, {
    code: code.data,
    retryAfterMs: reply.retryAfterMs,
    ...portalVerdict(code.data, ownWords(body, context.operation)),
  });
}

/** Assumption «portal success»: any 2xx code means that the action is done. */
function isSuccess(code: number | undefined): code is number {
  return code !== undefined && code >= 200 && code < 300;
}

function portalVerdict(code: number | undefined, said: readonly string[]): Verdict {
  const coded = codeVerdict(code);
  if (coded !== undefined) return coded;
  if (said.length === 0) return NOT_ITS_OWN;
  if ((code === undefined || isKeyStatus(code)) && saysWrongKey(said)) return WRONG_KEY;
  return { outcome: 'refused', reason: 'portal-refused' };
}

/** @returns what the portal's code alone means, whatever the HTTP status */
function codeVerdict(code: number | undefined): Verdict | undefined {
  if (code === 408) return TIMED_OUT;
  if (code === 429) return { outcome: 'not-done', reason: 'rate-limited' };
  return code !== undefined && code >= 500 ? { outcome: 'unknown', reason: 'portal-5xx' } : undefined;
}

/** Reads the reply of submit-chargeback, which echoes the submitted fields. */
export function readChargebackReply(reply: Reply, context: Context): ChargebackReply {
  const portal = readPortalReply(reply, context);
  const { chargeback } = bodyOfSuccess(reply, context);
  if (!isRecord(chargeback)) return portal;
  if (typeof chargeback.transaction_id === 'string') requireSame(chargeback.transaction_id, reply, context);
  const echoed = Object.entries(chargeback).filter((field): field is [string, string] =>
    isEchoable(field, context.secrets),
  );
  const kept: Record<string, string> = {};
  for (const [name, value] of echoed) {
    if (bytesOf({ ...kept, [name]: value }) <= MAX_ECHO_BYTES) kept[name] = value;
  }
  return { ...portal, chargeback: kept };
}

const MAX_ECHO_BYTES = 1_024;

/** @throws ScreeningError `other-transaction`, without an id, if the reply names a different transaction than the requested one */
function requireSame(named: string, { status }: Reply, { operation, transactionId }: Context): void {
  if (transactionId === undefined || sameTransaction(named, transactionId)) return;
  throw new ScreeningError({ operation, outcome: 'unknown', reason: 'other-transaction', status });
}

function isEchoable([name, value]: [string, unknown], secrets: readonly string[]): boolean {
  if (typeof value !== 'string' || /token|key/i.test(name)) return false;
  return !holdsCardNumber(value, 'id') && !secrets.some((secret) => value.includes(secret));
}

/** Returns the JSON object of a 2xx reply. @throws ScreeningError for any other reply */
function bodyOfSuccess(reply: Reply, context: Context): Record<string, unknown> {
  const body = parseObject(reply.text);
  if (reply.status < 200 || reply.status > 299) {
    const code = SCREENING.has(context.operation) ? undefined : codeSchema.safeParse(body?.code).data;
    throw failure(reply, context, body ?? {}, {
      code,
      retryAfterMs: reply.retryAfterMs,
      ...verdict(
        reply.status,
        code,
        ownWords(body ?? {}, context.operation),
        context.operation,
        !Array.isArray(body?.Errors),
      ),
    });
  }
  if (body === undefined) throw failure(reply, context, {}, NOT_ITS_OWN);
  return body;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

type Verdict = Pick<ScreeningFailure, 'outcome' | 'reason'>;

const WRONG_KEY: Verdict = { outcome: 'refused', reason: 'forbidden' };
const BAD_REQUEST: Verdict = { outcome: 'refused', reason: 'bad-request' };
/** The reply isn't from the screening service but from a proxy without a backend, a firewall or a wrong address. */
const NOT_ITS_OWN: Verdict = { outcome: 'unknown', reason: 'malformed-reply' };

/** A proxy or a part of the portal timed out; the screening service may still process the request. */
const TIMED_OUT: Verdict = { outcome: 'unknown', reason: 'timeout' };

function isKeyStatus(status: number): boolean {
  return status === 401 || status === 403;
}

/**
 * Assumptions «not its own words» and «rate limits».
 * @param code the portal's
 * @param said error messages of the screening service. Without one, a 4xx is not a refusal
 * @param isCoded whether they have the form of the portal, `code` and `message`, instead of `Errors`
 */
function verdict(
  status: number,
  code: number | undefined,
  said: readonly string[],
  operation: Operation,
  isCoded: boolean,
): Verdict {
  if (status === 408 || status === 504) return TIMED_OUT;
  if (status >= 500) return { outcome: 'unknown', reason: 'http-5xx' };
  if (status === 429) return { outcome: 'not-done', reason: 'rate-limited' };
  if (status >= 300 && status < 400) return { outcome: 'unknown', reason: 'redirect' };
  if (status < 300) return { outcome: 'unknown', reason: 'http-other' };
  // The screening service supports all the methods we use, so a 405 comes from another server, whatever its message.
  if (status === 405) return NOT_ITS_OWN;
  const coded = said.length > 0 ? codeVerdict(code) : undefined;
  if (coded !== undefined) return coded;
  if (isKeyStatus(status) && isAboutKey(said, operation)) return WRONG_KEY;
  if (said.length === 0) return NOT_ITS_OWN;
  if (status !== 404) return BAD_REQUEST;
  // Any server at a wrong address may answer `Errors`. A create isn't done then; the others require the screening service's own message.
  const isOwn = operation === 'create-transaction' || isCoded || saysNoTransaction(said);
  return isOwn ? { outcome: 'refused', reason: 'not-found' } : NOT_ITS_OWN;
}

/** @param more the outcome and its reason, and what else is known. The words are the texts of `Errors`, or the `message` of the portal */
function failure(
  { status }: Reply,
  { operation, secrets }: Context,
  body: Record<string, unknown>,
  more: Omit<ScreeningFailure, 'operation' | 'status' | 'words'>,
): ScreeningError {
  const given = Array.isArray(body.Errors) ? body.Errors : [body.message];
  const words = given.filter((word): word is string => typeof word === 'string' && word !== '');
  return new ScreeningError({
    operation,
    status,
    words: words.length === 0 ? undefined : scrubWords(words, secrets),
    ...more,
  });
}

function orUndefined<Schema extends z.ZodType>(schema: Schema) {
  return schema.optional().catch(undefined);
}

/** The Transaction response in definition spelling, with undefined for what is missing or invalid. Only an enriched one has insights and modes. */
const responseSchema = z.object({
  id: orUndefined(z.guid()),
  decision: orUndefined(z.enum(DECISIONS)),
  message: orUndefined(z.string()),
  account_mode: orUndefined(z.enum(['live', 'test'])),
  passive_mode: orUndefined(z.boolean()),
  sub_status: orUndefined(z.string()),
  insights: z.unknown().optional(),
});

/** A Transaction response in camelCase, with known fields only. */
export interface TransactionResponse extends Enriched {
  id: string;
  decision: Decision;
  message?: string;
}

/** The portal's reply. `code` is a string in the definition and a number in real replies; here it is always a number. */
export interface PortalReply {
  code: number;
  message?: string;
}

/** The reply of submit-chargeback, which echoes the submitted fields. */
export interface ChargebackReply extends PortalReply {
  chargeback?: Record<string, string>;
}
