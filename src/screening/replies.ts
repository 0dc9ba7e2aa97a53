import { z } from 'zod';
import { type Operation, ScreeningError, type ScreeningFailure } from './errors.ts';
import type { Reply } from './exchange.ts';
import {
  type ChargebackReply,
  enrichedResponseSchema,
  type PortalReply,
  type TransactionResponse,
} from './responses.ts';
import { scrubWords, withoutSecrets } from './scrub.ts';
import { isObject, toDefinitionSpelling } from './spellings.ts';
import { isDecision } from './vocabulary.ts';

/** What is needed to judge a reply: which operation it answers, and what must not come back in words. */
export interface Context {
  operation: Operation;
  /** The key and card data that were sent. */
  secrets: readonly string[];
}

/**
 * Reads a Transaction response, in either spelling and shape. What doesn't fit the interface document is left out,
 * except `id` and `decision`, without which there is no answer: `missing-id`, `unknown-decision` (which keeps the id).
 */
export function readTransactionResponse(reply: Reply, context: Context): TransactionResponse {
  const body = toDefinitionSpelling(enrichedResponseSchema, bodyOfSuccess(reply, context)).value;
  const fields = isObject(body) ? body : {};
  const { shape } = enrichedResponseSchema;
  const id = shape.id.safeParse(fields.id);
  const found = { operation: context.operation, status: reply.status, ...wordsOf(fields, context) };
  if (!id.success) throw new ScreeningError({ ...found, outcome: 'unknown', reason: 'missing-id' });
  if (!isDecision(fields.decision)) {
    throw new ScreeningError({
      ...found,
      outcome: 'unknown',
      reason: 'unknown-decision',
      transactionId: id.data,
    });
  }
  const message = shape.message.safeParse(fields.message);
  const accountMode = shape.account_mode.safeParse(fields.account_mode);
  const passiveMode = shape.passive_mode.safeParse(fields.passive_mode);
  const subStatus = shape.sub_status.safeParse(fields.sub_status);
  const insights = shape.insights.safeParse(fields.insights);
  return {
    id: id.data,
    decision: fields.decision,
    ...(message.data === undefined ? {} : { message: withoutSecrets(message.data, context.secrets) }),
    ...(accountMode.data === undefined ? {} : { accountMode: accountMode.data }),
    ...(passiveMode.data === undefined ? {} : { passiveMode: passiveMode.data }),
    ...(subStatus.data === undefined ? {} : { subStatus: subStatus.data }),
    ...(insights.data === undefined ? {} : { insights: insights.data }),
  };
}

/** Reads the reply of gateway-response: `Status`, which is `OK`. */
export function readGatewayReply(reply: Reply, context: Context): void {
  const body = bodyOfSuccess(reply, context);
  if (body.Status === 'OK' || body.status === 'OK') return;
  throw unusable(reply, context, body);
}

const codeSchema = z.union([
  z.number(),
  z
    .string()
    .regex(/^\d{3}$/)
    .transform(Number),
]);

/**
 * Reads the reply of a portal action. HTTP 200 alone says nothing: the `code` in the body, a number or a string, must
 * be 200 too. Another code is a refusal, but for 5xx, after which we can't know, and 429, after which we may ask again.
 */
export function readPortalReply(reply: Reply, context: Context): PortalReply {
  const body = bodyOfSuccess(reply, context);
  const code = codeSchema.safeParse(body.code);
  if (!code.success || reply.status !== 200) throw unusable(reply, context, body);
  const [message] = typeof body.message === 'string' ? scrubWords([body.message], context.secrets) : [];
  if (code.data === 200) return { code: 200, ...(message === undefined ? {} : { message }) };
  const failed = {
    operation: context.operation,
    status: reply.status,
    code: code.data,
    ...wordsOf(body, context),
    ...retryAfterOf(reply),
  };
  if (code.data === 429) throw new ScreeningError({ ...failed, outcome: 'not-done', reason: 'rate-limited' });
  if (code.data >= 500) throw new ScreeningError({ ...failed, outcome: 'unknown', reason: 'portal-5xx' });
  throw new ScreeningError({ ...failed, outcome: 'refused', reason: 'portal-refused' });
}

/** Reads the reply of submit-chargeback, which echoes the fields that were submitted. */
export function readChargebackReply(reply: Reply, context: Context): ChargebackReply {
  const portal = readPortalReply(reply, context);
  const { chargeback } = bodyOfSuccess(reply, context);
  if (!isObject(chargeback)) return portal;
  const echoed = Object.entries(chargeback).filter(
    (field): field is [string, string] => typeof field[1] === 'string' && !/token|key/i.test(field[0]),
  );
  return { ...portal, chargeback: Object.fromEntries(echoed) };
}

/** The JSON object of a 2xx reply; anything else is the `ScreeningError` it means. */
function bodyOfSuccess(reply: Reply, context: Context): Record<string, unknown> {
  const body = parseObject(reply.text);
  if (reply.status < 200 || reply.status > 299) throw failureOf(reply, context, body ?? {});
  if (body === undefined) throw unusable(reply, context, {});
  return body;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function failureOf(reply: Reply, context: Context, body: Record<string, unknown>): ScreeningError {
  const { status } = reply;
  const code = codeSchema.safeParse(body.code);
  const words = wordsOf(body, context);
  const failed = {
    operation: context.operation,
    status,
    ...words,
    ...retryAfterOf(reply),
    ...(code.success ? { code: code.data } : {}),
  };
  return new ScreeningError({ ...failed, ...verdict(status, context.operation, words.words !== undefined) });
}

function verdict(
  status: number,
  operation: Operation,
  hasWords: boolean,
): Pick<ScreeningFailure, 'outcome' | 'reason'> {
  // A proxy in between gave up; the service may be at work.
  if (status === 408 || status === 504) return { outcome: 'unknown', reason: 'timeout' };
  if (status >= 500) return { outcome: 'unknown', reason: 'http-5xx' };
  if (status === 429) return { outcome: 'not-done', reason: 'rate-limited' };
  if (status >= 300 && status < 400) return { outcome: 'unknown', reason: 'redirect' };
  if (status < 300) return { outcome: 'unknown', reason: 'http-other' };
  if (status === 401 || status === 403) return { outcome: 'refused', reason: 'forbidden' };
  if (status !== 404) return { outcome: 'refused', reason: 'bad-request' };
  // "Not found" lets a caller create again, so it must be the service that says it, and not a proxy without a backend.
  const saysWords = operation === 'status-by-url' || operation === 'status-by-invoice';
  if (saysWords && !hasWords) return { outcome: 'unknown', reason: 'malformed-reply' };
  return { outcome: 'refused', reason: 'not-found' };
}

function unusable(reply: Reply, context: Context, body: Record<string, unknown>): ScreeningError {
  return new ScreeningError({
    operation: context.operation,
    outcome: 'unknown',
    reason: 'malformed-reply',
    status: reply.status,
    ...wordsOf(body, context),
  });
}

/** The service's words: `Errors` of the screening operations, `message` of the portal's. */
function wordsOf(body: Record<string, unknown>, { secrets }: Context): { words?: string[] } {
  const given = Array.isArray(body.Errors) ? body.Errors : [body.message];
  const words = given.filter((word): word is string => typeof word === 'string' && word !== '');
  return words.length === 0 ? {} : { words: scrubWords(words, secrets) };
}

function retryAfterOf({ retryAfterMs }: Reply): { retryAfterMs?: number } {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}
