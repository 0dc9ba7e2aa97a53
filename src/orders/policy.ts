/**
 * The policy: what can be set for an integration, one configured account of the merchant at the screening service, and
 * what of it is in force for one order.
 */
import type { PolicyKey, Settings, ValueKind } from './policy-kinds.ts';
import { INTEGRATION_WORKFLOWS, type UnavailableAction } from './words.ts';

/** Every key of an integration: settings, types, the recorded policy and the table of `docs/policy.md` are made of it. */
export const POLICY_KEYS = {
  workflow: {
    kind: 'word',
    words: INTEGRATION_WORKFLOWS,
    fallback: 'pre-acceptance',
    about:
      'when orders are screened: `pre-gateway`, `pre-acceptance`, `post-acceptance`; a request may name another',
  },
  mode: {
    kind: 'word',
    words: ['test', 'live'],
    fallback: 'test',
    recorded: false,
    about: 'the key’s mode: `test` takes only test card numbers, `live` only real ones',
  },
  apiKeyEnv: {
    kind: 'variable',
    fallback: 'SCREENING_API_KEY',
    recorded: false,
    about: 'the name of the variable that holds the key; keys never stand in the file',
  },
  baseUrl: { kind: 'address', recorded: false, about: 'the screening address that fits the key’s mode' },
  portalBaseUrl: { kind: 'address', recorded: false, about: 'the portal address' },
  dialect: {
    kind: 'word',
    words: ['definition', 'sample'],
    fallback: 'definition',
    recorded: false,
    about:
      '`definition`: POST /transaction, `nf-token`, definition spellings; `sample`: POST to the root, `nfToken`, camelCase',
  },
  apiKeyHeader: {
    kind: 'flag',
    fallback: false,
    recorded: false,
    about: 'send the key in the header `x-api-key`, too, status calls included',
  },
  enrich: { kind: 'flag', fallback: true, recorded: false, about: 'ask for insights' },
  // A workflow task is heartbeaten at 8 s, at a cost of 3 events.
  checkoutBudget: {
    kind: 'duration',
    most: '7.5s',
    fallback: '7s',
    recorded: false,
    about: 'how long a checkout may wait; at most `7.5s`',
  },
  whenUnavailable: {
    kind: 'action or rules',
    fallback: 'hold',
    about:
      'the action of a checkout without a decision: `hold`, `proceed`, `decline`, or a list of rules, first match wins, `hold` if none does',
  },
  skip: {
    kind: 'rules',
    fallback: [],
    recorded: false,
    about: 'rules for orders that aren’t screened; one that holds is enough',
  },
  notCards: {
    kind: 'paths',
    fallback: [],
    recorded: false,
    about:
      'id fields whose digits are no card number, though they may look like one: `["orderId", "customer.id"]` ([below](#ids-that-look-like-card-numbers))',
  },
  declineMessage: {
    kind: 'text',
    most: 1_000,
    fallback: 'We could not accept this order. Please check your details or try another way to pay.',
    about: 'shown on `decline` when the service gives no message',
  },
  screeningDeadline: {
    kind: 'duration',
    fallback: '24h',
    about: 'how long the catch-up goes on after `pending`',
  },
  rescreenOnError: {
    kind: 'group',
    parts: { tries: { kind: 'whole number', least: 0, most: 100 }, pause: { kind: 'duration' } },
    fallback: { tries: 3, pause: '1m' },
    about: 'after the decision `error`',
  },
  retryWithin: {
    kind: 'duration',
    fallback: '1h',
    about: 'how long a declined order waits for another attempt',
  },
  gatewayResultWithin: { kind: 'duration', fallback: '24h', about: 'then attention' },
  reviewBeforeGateway: {
    kind: 'word',
    words: ['proceed', 'hold'],
    fallback: 'proceed',
    about: 'pre-gateway: whether a review goes to the gateway at once or is held first',
  },
  poll: {
    kind: 'group',
    parts: {
      first: { kind: 'duration' },
      factor: { kind: 'number', least: 1, most: 100 },
      max: { kind: 'duration' },
    },
    fallback: { first: '1m', factor: 1.5, max: '15m' },
    about:
      'pauses between polls of a review: the first, then each `factor` times the one before, up to `max`',
  },
  reviewLeadTime: {
    kind: 'duration',
    fallback: '12h',
    about: 'how long before the window closes an unresolved review is acted on',
  },
  onUnresolvedReview: {
    kind: 'word',
    words: ['alert', 'cancel'],
    fallback: 'alert',
    about: '`alert`: attention; `cancel`: cancel with the service',
  },
  reviewLimit: {
    kind: 'duration',
    fallback: '30d',
    about: 'then an unresolved review is closed, with attention',
  },
  recheckLeadTime: {
    kind: 'duration',
    orZero: true,
    fallback: '12h',
    about: 'how long before the window closes a `pass` is read once more; `0s` turns it off',
  },
  autoCancel: {
    kind: 'flag',
    fallback: true,
    about: 'cancel with the service when the action is `cancel`',
  },
  cancelWindow: { kind: 'duration', fallback: '120h', about: 'other values only in mode `test`' },
  passive: {
    kind: 'flag',
    fallback: false,
    about: 'screen and record, never act: every action is `proceed`, the state keeps what it would be',
  },
  invoicePerAttempt: {
    kind: 'flag',
    fallback: true,
    about:
      'later creates are sent as `<invoice>~2` (attempt 2) or `<invoice>~1.2` (first rescreen of attempt 1), so that a lost answer can be looked up; with `false` such an attempt ends without a decision',
  },
  events: {
    kind: 'word',
    words: ['all', 'changes'],
    fallback: 'changes',
    recorded: false,
    about:
      '`all`: every event; `changes`: only what a caller didn’t learn from the answer at checkout ([events](calling.md#only-what-changes))',
  },
  eventsUrl: {
    kind: 'target',
    optional: true,
    recorded: false,
    about: 'where events of its orders are sent; else `EVENTS_URL`',
  },
  eventsSecretEnv: {
    kind: 'variable',
    optional: true,
    recorded: false,
    about:
      'the name of the variable that holds the secrets of its events, a comma list; else `EVENTS_SECRETS`',
  },
  portalLink: {
    kind: 'link',
    optional: true,
    recorded: false,
    about:
      'where a transaction is seen in the service’s portal: an https address with `{transactionId}`, which the queue page links to',
  },
} as const satisfies Record<string, PolicyKey>;

/** @returns what a key is called once it was read */
export function settingName(key: string, { kind }: ValueKind): string {
  if (kind === 'duration') return `${key}Ms`;
  return kind === 'variable' ? key.replace(/Env$/, '') : key;
}

type Keys = typeof POLICY_KEYS;
type RecordedKeys = {
  [Name in keyof Keys as Keys[Name] extends { recorded: false } ? never : Name]: Keys[Name];
};

/** What of an integration stays the same for every order; durations in milliseconds. */
export interface Integration extends Settings<Keys> {
  /** Its short key, `default` unless said. */
  name: string;
}

/** @returns the integration of that name, or undefined */
export type FindIntegration = (name: string) => Integration | undefined;

/**
 * The policy in force for one order, as recorded in its workflow: durations in milliseconds, rules already
 * resolved for this order. Made from the policy file by the screening activity.
 */
export interface Policy extends Settings<RecordedKeys> {
  /** The action of a checkout that gets no decision, resolved for this order. */
  whenUnavailable: UnavailableAction;
  /** Which events are sent; false while no receiver is configured: then no event costs history. */
  events: Integration['events'] | false;
}

/** Pauses between polls: the first, then each `factor` times the one before, at most `maxMs`. */
export type PollPauses = Policy['poll'];

/** Until the policy is known, an order holds and cancels nothing by itself. */
export const FALLBACK_POLICY: Policy = {
  workflow: 'pre-acceptance',
  whenUnavailable: 'hold',
  declineMessage: POLICY_KEYS.declineMessage.fallback,
  screeningDeadlineMs: 24 * 3_600_000,
  rescreenOnError: { tries: 3, pauseMs: 60_000 },
  retryWithinMs: 3_600_000,
  gatewayResultWithinMs: 24 * 3_600_000,
  reviewBeforeGateway: 'hold',
  poll: { firstMs: 60_000, factor: 1.5, maxMs: 15 * 60_000 },
  reviewLeadTimeMs: 12 * 3_600_000,
  onUnresolvedReview: 'alert',
  reviewLimitMs: 30 * 24 * 3_600_000,
  recheckLeadTimeMs: 12 * 3_600_000,
  autoCancel: false,
  cancelWindowMs: 120 * 3_600_000,
  passive: false,
  invoicePerAttempt: true,
  events: 'all',
};
