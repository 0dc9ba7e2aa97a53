/** The keys of the policy file: what each may hold, its default, and its line in `docs/policy.md`. */
import { DECLINE_MESSAGE } from '../contract/policy.ts';
import { INTEGRATION_WORKFLOWS } from '../contract/words.ts';

/** What one key of the policy file may hold. */
export type ValueKind =
  | { kind: 'flag' | 'address' | 'rules' | 'action or rules' | 'paths' }
  /** An https address with `{transactionId}` in it. */
  | { kind: 'link' }
  /** An address that something is sent to as it stands. */
  | { kind: 'target' }
  /** Such as `12h`. `most` is the longest; with `orZero` it may be `0s`. */
  | { kind: 'duration'; most?: string; orZero?: true }
  | { kind: 'number' | 'whole number'; least: number; most: number }
  | { kind: 'word'; words: readonly [string, ...string[]] }
  /** `most` counts characters. */
  | { kind: 'text'; most: number }
  /** The name of an environment variable, whose value is read at each call and nowhere kept. */
  | { kind: 'variable' }
  | { kind: 'group'; parts: Record<string, ValueKind> };

/** A key of the policy file. */
export type PolicyKey = ValueKind & {
  /** As it would be written; a key without one is required, unless it is optional. */
  fallback?: unknown;
  optional?: true;
  /** Its line in the guide, in Markdown. */
  about: string;
};

/** Every key of an integration: the settings and the table of `docs/policy.md` are made of it. */
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
    about: 'the key’s mode: `test` takes only test card numbers, `live` only real ones',
  },
  apiKeyEnv: {
    kind: 'variable',
    fallback: 'SCREENING_API_KEY',
    about: 'the name of the variable that holds the key; keys never stand in the file',
  },
  baseUrl: { kind: 'address', about: 'the screening address that fits the key’s mode' },
  portalBaseUrl: { kind: 'address', about: 'the portal address' },
  dialect: {
    kind: 'word',
    words: ['definition', 'sample'],
    fallback: 'definition',
    about:
      '`definition`: POST /transaction, `nf-token`, definition spellings; `sample`: POST to the root, `nfToken`, camelCase',
  },
  apiKeyHeader: {
    kind: 'flag',
    fallback: false,
    about: 'send the key in the header `x-api-key`, too, status calls included',
  },
  enrich: { kind: 'flag', fallback: true, about: 'ask for insights' },
  // A workflow task is heartbeaten at 8 s, at a cost of 3 events.
  checkoutBudget: {
    kind: 'duration',
    most: '7.5s',
    fallback: '7s',
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
    about: 'rules for orders that aren’t screened; one that holds is enough',
  },
  notCards: {
    kind: 'paths',
    fallback: [],
    about:
      'id fields whose digits are no card number, though they may look like one: `["orderId", "customer.id"]` ([below](#ids-that-look-like-card-numbers))',
  },
  declineMessage: {
    kind: 'text',
    most: 1_000,
    fallback: DECLINE_MESSAGE,
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
    about:
      '`all`: every event; `changes`: only what a caller didn’t learn from the answer at checkout ([events](calling.md#only-what-changes))',
  },
  eventsUrl: {
    kind: 'target',
    optional: true,
    about: 'where events of its orders are sent; else `EVENTS_URL`',
  },
  eventsSecretEnv: {
    kind: 'variable',
    optional: true,
    about:
      'the name of the variable that holds the secrets of its events, a comma list; else `EVENTS_SECRETS`',
  },
  portalLink: {
    kind: 'link',
    optional: true,
    about:
      'where a transaction is seen in the service’s portal: an https address with `{transactionId}`, which the queue page links to',
  },
} as const satisfies Record<string, PolicyKey>;

/** @returns what a key is called once it was read */
export function settingName(key: string, { kind }: ValueKind): string {
  if (kind === 'duration') return `${key}Ms`;
  return kind === 'variable' ? key.replace(/Env$/, '') : key;
}
