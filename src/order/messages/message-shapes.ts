/** The shapes of all messages to an order and of all workflow inputs. The client library and the API validate more, in more detail. */
import { byPortalKind, type PortalField, portalKind } from '../../contract/portal/portal-kinds.ts';
import {
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  NOTE_LIMIT,
  OVERRIDE_ACTIONS,
  REASON_LIMIT,
} from '../../contract/words.ts';
import {
  type Fields,
  finite,
  flag,
  isRecord,
  listOf,
  moment,
  oneOf,
  oneOfWords,
  optional,
  type Shape,
  shaped,
  text,
  whole,
  words,
} from './shapes.ts';

const TEXT_LIMIT = 4_096;
const NAME_LIMIT = 64;
const KEY_LIMIT = 200;
/** Maximum characters of the names in `by`. */
export const ACTOR_LIMIT = 100;

const actor = (value: unknown) => text(ACTOR_LIMIT)(value) && !/[\p{Cc}\p{Cs}]/u.test(String(value));
const by = optional(shaped({ key: optional(actor), actor: optional(actor) }));
const filled = text(TEXT_LIMIT);
const maybeEmpty = optional(text(TEXT_LIMIT, 0));
const name = text(NAME_LIMIT);
const key = optional(text(KEY_LIMIT));

const PORTAL_FIELD: Record<PortalField, Shape> = {
  text: filled,
  'text?': optional(filled),
  'empty-text?': maybeEmpty,
  'flag?': optional(flag),
  'true-or-false?': optional(oneOfWords(['true', 'false'])),
};
const PORTAL_FIELDS = byPortalKind((kind): Fields => {
  const fields = Object.entries(portalKind(kind).fields);
  return Object.fromEntries(fields.map(([name, field]) => [name, PORTAL_FIELD[field]]));
});

/** An update as it is sent. */
export const ENVELOPE: Fields = {
  type: name,
  updateId: filled,
  key: optional(shaped({ name: text(KEY_LIMIT), fingerprint: name })),
  body: isRecord,
};

/** The bodies of an order's updates. */
export const MESSAGES = {
  decision: { attempt: whole, fingerprint: key },
  adopt: { transactionId: name, by },
  retry: { attempt: whole, transaction: isRecord, cardRef: key, fingerprint: key },
  'gateway-result': {
    attempt: optional(whole),
    result: oneOfWords(GATEWAY_RESULTS),
    authcode: maybeEmpty,
    transactionId: maybeEmpty,
  },
  acknowledge: { reason: words(TEXT_LIMIT), by },
  note: { text: words(NOTE_LIMIT), by },
  assign: { assignee: optional(actor), by },
  snooze: { until: moment, note: words(NOTE_LIMIT), by },
  override: { action: oneOfWords(OVERRIDE_ACTIONS), reason: words(REASON_LIMIT), by },
  withdraw: { number: whole, by },
  ...byPortalKind((kind): Fields => ({ ...PORTAL_FIELDS[kind], by })),
} satisfies Record<string, Fields>;

const adoption = shaped({
  transactionId: name,
  screenedAt: moment,
  gatewayResult: optional(oneOfWords(GATEWAY_RESULTS)),
  force: optional(flag),
});

/** The input of `screenOrder`. */
export const ORDER: Fields = {
  orderId: (value) => name(value) && !String(value).startsWith('#'),
  integration: optional(name),
  workflow: optional(oneOfWords(INTEGRATION_WORKFLOWS)),
  transaction: isRecord,
  cardRef: key,
  fingerprint: key,
  answerBy: optional(moment),
  adopt: optional(adoption),
};

/** The input of `portalAction`. */
export const PORTAL_ACTION_INPUT: Fields = {
  integration: filled,
  orderId: optional(filled),
  transactionId: optional(filled),
  cancelBy: optional(moment),
  cancelWindowMs: optional(finite),
  fields: oneOf(PORTAL_FIELDS),
  by,
};

/** The input of `readAfterEnd`. */
export const READ_AFTER_END_INPUT: Fields = {
  integration: filled,
  orderId: filled,
  transactions: listOf(shaped({ id: filled })),
  decisions: listOf(shaped({ transactionId: filled })),
  sequence: optional(whole),
  spacingMs: optional(whole),
};
