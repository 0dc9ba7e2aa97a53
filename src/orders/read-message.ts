/** What a message asks of an order. */
import type { MessageKind } from '../contract/messages.ts';
import { isPortalAction } from '../contract/portal-kinds.ts';
import type { By } from '../contract/words.ts';
import { MESSAGES } from './message-shapes.ts';
import type { Request } from './order.ts';
import { isRecord } from './shapes.ts';

/** Some languages say `null` for what is left out. A portal action without an argument is about the newest transaction. */
export function withoutNulls(message: unknown = {}): unknown {
  if (!isRecord(message)) return message;
  const given = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === 'by' ? withoutNulls(value) : value]),
  );
}

/** @returns the request that a message means, whose shape has been checked. Fields that no shape names are dropped */
export function requestOf(kind: MessageKind, message: unknown): Request {
  const known = ['notCards', ...Object.keys(MESSAGES[kind])];
  const given = Object.entries(withoutNulls(message) as object).filter(([name]) => known.includes(name));
  const request: { by?: By } = Object.fromEntries(given);
  if (!isPortalAction(kind)) return { kind, request } as Request;
  // Who asks is no part of what is sent.
  const { by, ...fields } = request;
  return { kind: 'portal', fields: { ...fields, kind }, ...(by && { by }) } as Request;
}
