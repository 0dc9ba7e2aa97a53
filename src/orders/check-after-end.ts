/** Checks the argument of `readAfterEnd`, which a client of any SDK can start. Pure, no zod. */
import { payloadRefusal } from './check-messages.ts';
import type { Refusal } from './order.ts';

/** @returns why the argument cannot be read; undefined: it can */
export function readAfterEndRefusal(input: unknown): Refusal | undefined {
  const refused = payloadRefusal(input);
  if (refused !== undefined) return refused;
  const given = isRecord(input) ? input : {};
  const { integration, orderId, transactions, decisions } = given;
  const named = typeof integration === 'string' && typeof orderId === 'string';
  const listed = Array.isArray(transactions) && transactions.every(isTransaction);
  if (named && listed && Array.isArray(decisions)) return undefined;
  return {
    code: 'invalid-request',
    message: 'The argument is no ended order. Send a recheck through the API, which starts this workflow.',
    errors: [],
  };
}

function isTransaction(value: unknown): boolean {
  return isRecord(value) && typeof value.id === 'string';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
