/** Checks the argument of `readAfterEnd`, which a client of any SDK can start. Pure, no zod. */
import { isRecord, payloadRefusal } from './check-messages.ts';
import type { Refusal } from './order.ts';

type Given = Record<string, unknown>;

/** @returns why the argument cannot be read; undefined: it can */
export function readAfterEndRefusal(input: unknown): Refusal | undefined {
  const refused = payloadRefusal(input);
  if (refused !== undefined) return refused;
  if (isRecord(input) && isEndedOrder(input)) return undefined;
  return {
    code: 'invalid-request',
    message: 'The argument is no ended order. Send a recheck through the API, which starts this workflow.',
    errors: [],
  };
}

function isEndedOrder({
  integration,
  orderId,
  transactions,
  decisions,
  sequence,
  spacingMs,
}: Given): boolean {
  return (
    [integration, orderId].every(isText) &&
    isListOf(transactions, ({ id }) => isText(id)) &&
    isListOf(decisions, ({ transactionId }) => isText(transactionId)) &&
    [sequence, spacingMs].every((one) => one === undefined || Number.isSafeInteger(one))
  );
}

function isListOf(value: unknown, isOne: (one: Given) => boolean): boolean {
  return Array.isArray(value) && value.every((one) => isRecord(one) && isOne(one));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
