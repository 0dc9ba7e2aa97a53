/** Converts a message to a request of an order. */
import type { MessageKind } from '../contract/messages.ts';
import { isPortalAction } from '../contract/portal-kinds.ts';
import type { By } from '../contract/words.ts';
import { MESSAGES } from './message-shapes.ts';
import type { Request } from './order.ts';
import { isRecord } from './shapes.ts';

/** Omits fields that are `null`, as some languages send missing fields. A missing argument becomes an empty object. */
export function withoutNulls(message: unknown = {}): unknown {
  if (!isRecord(message)) return message;
  const given = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === 'by' ? withoutNulls(value) : value]),
  );
}

/** @returns the request of a message, whose shape has been checked. Unknown fields are dropped */
export function requestOf(kind: MessageKind, message: unknown): Request {
  const known = ['notCards', ...Object.keys(MESSAGES[kind])];
  const given = Object.entries(withoutNulls(message) as object).filter(([name]) => known.includes(name));
  const request: { by?: By } = Object.fromEntries(given);
  if (!isPortalAction(kind)) return { kind, request } as Request;
  // `by` is not part of the fields that are sent.
  const { by, ...fields } = request;
  return { kind: 'portal', fields: { ...fields, kind }, ...(by && { by }) } as Request;
}
