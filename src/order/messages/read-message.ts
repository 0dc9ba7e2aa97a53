/** Opens a message, and converts it to a request of an order. */
import type { Envelope, MessageKind, RecheckRequest } from '../../contract/messages.ts';
import { isPortalAction } from '../../contract/portal/portal-kinds.ts';
import type { By } from '../../contract/words.ts';
import { defined } from '../defined.ts';
import type { Refusal, Request, Sent } from '../order.ts';
import { invalid, shapeRefusal } from './check-messages.ts';
import { ENVELOPE, isRecord, MESSAGES, misfits, moment } from './shapes.ts';

/** @returns why an update is refused: it isn't an envelope, or it was made for a different update */
export function envelopeRefusal(message: unknown, update: { id: string; name: string }): Refusal | undefined {
  const refused = shapeRefusal(message, ENVELOPE);
  if (refused !== undefined || !isEnvelope(message)) return refused;
  if (message.type === update.name && message.updateId === update.id) return undefined;
  return invalid([
    { path: 'updateId', message: 'is of a different update: a message can be sent only once' },
  ]);
}

/** Opens an update that was accepted. The histories of earlier versions have bodies without an envelope. */
export function opened(message: unknown): { body: unknown; sent?: Sent } {
  if (!isEnvelope(message)) return { body: message };
  const { updateId, key, body } = message;
  return { body, sent: defined({ updateId, key }) };
}

/** @returns whether a signal came from the client library with its time */
export function isRecheck(given: unknown): given is RecheckRequest {
  return isRecord(given) && misfits(given, { sentAt: moment }).length === 0;
}

function isEnvelope(message: unknown): message is Envelope<unknown> {
  return isRecord(message) && misfits(message, ENVELOPE).length === 0;
}

/** Omits fields that are `null`, as some languages send missing fields. A missing body, as in earlier histories, becomes an empty object. */
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
  return { kind: 'portal', request: { fields: { ...fields, kind }, ...(by && { by }) } } as Request;
}
