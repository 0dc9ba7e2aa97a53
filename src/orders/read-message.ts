/** What a message asks of an order. */
import type { MessageKind } from './messages.ts';
import type { Request } from './order.ts';
import { isRecord } from './shapes.ts';
import { type By, isPortalAction } from './words.ts';

/** Some languages say `null` for what is left out. A portal action without an argument is about the newest transaction. */
export function withoutNulls(message: unknown = {}): unknown {
  if (!isRecord(message)) return message;
  const given = Object.entries(message).filter(([, value]) => value !== null);
  return Object.fromEntries(
    given.map(([name, value]) => [name, name === 'by' ? withoutNulls(value) : value]),
  );
}

/** @returns the request that a message means, whose shape has been checked */
export function requestOf(kind: MessageKind, message: unknown): Request {
  const request = withoutNulls(message) as { by?: By };
  if (!isPortalAction(kind)) return { kind, request } as Request;
  // Who asks is no part of what is sent.
  const { by, ...fields } = request;
  return { kind: 'portal', fields: { ...fields, kind }, ...(by && { by }) } as Request;
}
