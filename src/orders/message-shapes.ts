/** The shape of everything that is sent to an order or starts a workflow. The client library and the API check more, and say more. */
import {
  GATEWAY_RESULTS,
  INTEGRATION_WORKFLOWS,
  OVERRIDE_ACTIONS,
  type PortalActionKind,
} from '../contract/words.ts';
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
  shaped,
  text,
  whole,
  words,
} from './shapes.ts';

const TEXT_LIMIT = 4_096;
const NAME_LIMIT = 64;
const KEY_LIMIT = 200;
/** Of why a person does something, in their own words. */
export const REASON_LIMIT = 500;
/** Of the names of who asks. */
export const ACTOR_LIMIT = 100;

const actor = (value: unknown) => text(ACTOR_LIMIT)(value) && !/[\p{Cc}\p{Cs}]/u.test(String(value));
const by = optional(shaped({ key: optional(actor), actor: optional(actor) }));
const filled = text(TEXT_LIMIT);
const maybeEmpty = optional(text(TEXT_LIMIT, 0));
const name = text(NAME_LIMIT);
const key = optional(text(KEY_LIMIT));

const PORTAL_FIELDS: Record<PortalActionKind, Fields> = {
  cancel: { transactionId: optional(filled), reason: optional(filled) },
  'report-fraud': { transactionId: optional(filled), reason: optional(filled) },
  chargeback: {
    transactionId: optional(filled),
    reason_code: filled,
    due_date: filled,
    notice_date: optional(filled),
    reference_number: maybeEmpty,
    carrier: maybeEmpty,
    carrier_tracking_number: maybeEmpty,
    notes: maybeEmpty,
    inquiry: optional(oneOfWords(['true', 'false'])),
    force: optional(flag),
  },
  'customer-code': { transactionId: optional(filled), customerCode: filled, email: optional(filled) },
};

const portalMessage = (kind: PortalActionKind): Fields => ({ ...PORTAL_FIELDS[kind], by });

/** The updates of an order. */
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
  override: { action: oneOfWords(OVERRIDE_ACTIONS), reason: words(REASON_LIMIT), by },
  withdraw: { number: whole, by },
  cancel: portalMessage('cancel'),
  'report-fraud': portalMessage('report-fraud'),
  chargeback: portalMessage('chargeback'),
  'customer-code': portalMessage('customer-code'),
} satisfies Record<string, Fields>;

const adoption = shaped({
  transactionId: name,
  screenedAt: moment,
  gatewayResult: optional(oneOfWords(GATEWAY_RESULTS)),
  force: optional(flag),
});

/** The argument of `screenOrder`. */
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

/** The argument of `portalAction`. */
export const PORTAL_ACTION_INPUT: Fields = {
  integration: filled,
  orderId: optional(filled),
  transactionId: optional(filled),
  cancelBy: optional(moment),
  cancelWindowMs: optional(finite),
  fields: oneOf(PORTAL_FIELDS),
  by,
};

/** The argument of `readAfterEnd`. */
export const READ_AFTER_END_INPUT: Fields = {
  integration: filled,
  orderId: filled,
  transactions: listOf(shaped({ id: filled })),
  decisions: listOf(shaped({ transactionId: filled })),
  sequence: optional(whole),
  spacingMs: optional(whole),
};
