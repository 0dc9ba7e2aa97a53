/** The integrations of a chaos run: `default` sets only its addresses; every key of the others is drawn from the seed. */
import { integrationSchema, toIntegration } from '../../src/config/policy-schema.ts';
import type { Integration, Policy } from '../../src/contract/policy.ts';
import {
  INTEGRATION_WORKFLOWS,
  UNAVAILABLE_ACTIONS,
  type UnavailableAction,
} from '../../src/contract/words.ts';
import { policyFor } from '../../src/orders/decide.ts';
import { Dice } from './random.ts';

type Rule = UnavailableAction | { atLeast: number; from: UnavailableAction; otherwise: UnavailableAction };

/** One integration of a run. */
export interface ChaosIntegration {
  name: string;
  /** As it is written in the policy file, without its addresses. */
  written: Record<string, unknown>;
  settings: Integration;
  whenUnavailable: Rule;
  /** Orders of smaller amounts are not screened. */
  skipBelow: number;
  /** How many orders it gets compared with the others. */
  weight: number;
}

/** Orders with a longer window stay open until the end of a run. */
const LONG_WINDOW_MS = 3_600_000;
const SKIP_BELOW = 1;
const HOW_MANY = 12;

/** @returns the integrations of the run with this seed, by name */
export function drawIntegrations(seed: number): Map<string, ChaosIntegration> {
  const byDefault = { name: 'default', whenUnavailable: 'hold', skipBelow: 0, weight: 3 } as const;
  const all: ChaosIntegration[] = [{ ...byDefault, written: {}, settings: settingsOf('default', {}) }];
  for (let index = 1; index < HOW_MANY; index += 1) all.push(drawn(index, new Dice(seed, 'policy', index)));
  return new Map(all.map((one) => [one.name, one]));
}

/** @returns the policy in force for an order of this amount */
export function policyOf({ settings, whenUnavailable: rule }: ChaosIntegration, amount: number): Policy {
  const facts = { amount, currency: 'USD', itemCategories: [] };
  const whenUnavailable =
    typeof rule === 'string' ? rule : amount >= rule.atLeast ? rule.from : rule.otherwise;
  return { ...policyFor(settings, undefined, facts, true), whenUnavailable };
}

/** @returns whether its orders stay open until the end of a run */
export function isLong({ settings }: ChaosIntegration): boolean {
  return settings.cancelWindowMs > LONG_WINDOW_MS;
}

/** @returns the policy file */
export function policyFile(
  integrations: ReadonlyMap<string, ChaosIntegration>,
  addresses: { baseUrl: string; portalBaseUrl: string },
): object {
  const entries = [...integrations.values()].map(({ name, written }) => [name, { ...addresses, ...written }]);
  return { integrations: Object.fromEntries(entries) };
}

function drawn(index: number, dice: Dice): ChaosIntegration {
  const long = index % 5 === 0;
  const word = <T>(label: string, words: readonly T[]): T =>
    dice.weighted(
      label,
      words.map((one) => [one, 1] as const),
    );
  const between = (label: string, from: number, to: number): string => `${dice.between(label, from, to)}ms`;
  const whenUnavailable: Rule = dice.chance('by amount', 0.3)
    ? { atLeast: 100, from: word('from', UNAVAILABLE_ACTIONS), otherwise: word('below', UNAVAILABLE_ACTIONS) }
    : word('unavailable', UNAVAILABLE_ACTIONS);
  const written = {
    workflow: INTEGRATION_WORKFLOWS[index % INTEGRATION_WORKFLOWS.length],
    invoicePerAttempt: index % 2 === 0,
    dialect: word('dialect', ['definition', 'sample']),
    apiKeyHeader: dice.chance('header', 0.5),
    enrich: dice.chance('enrich', 0.7),
    checkoutBudget: between('budget', 1_200, 3_000),
    whenUnavailable:
      typeof whenUnavailable === 'string'
        ? whenUnavailable
        : [
            { amountAtLeast: whenUnavailable.atLeast, action: whenUnavailable.from },
            { action: whenUnavailable.otherwise },
          ],
    skip: [{ amountBelow: SKIP_BELOW }],
    notCards: dice.chance('not cards', 0.3) ? ['customer.id'] : [],
    declineMessage: word('message', ['Another way to pay, please.', 'Declined.']),
    screeningDeadline: between('deadline', 20_000, 30_000),
    rescreenOnError: { tries: dice.between('rescreens', 0, 3), pause: between('pause', 1_000, 3_000) },
    retryWithin: between('retry', 8_000, 14_000),
    gatewayResultWithin: between('gateway', 10_000, 20_000),
    reviewBeforeGateway: word('review first', ['proceed', 'hold']),
    poll: {
      first: between('poll', 800, 1_500),
      factor: 1 + dice.between('factor', 2, 10) / 10,
      max: between('polls', 3_000, 6_000),
    },
    reviewLeadTime: long ? '12h' : between('lead', 6_000, 9_000),
    onUnresolvedReview: word('unresolved', ['alert', 'cancel']),
    reviewLimit: long ? '30d' : between('limit', 45_000, 60_000),
    recheckLeadTime: dice.chance('no recheck', 0.2) ? '0s' : long ? '12h' : between('recheck', 4_000, 8_000),
    autoCancel: dice.chance('auto-cancel', 0.7),
    cancelWindow: long ? '120h' : between('window', 20_000, 45_000),
    passive: dice.chance('passive', 0.1),
    events: word('events', ['all', 'changes']),
    ...(dice.chance('link', 0.5) && { portalLink: 'https://portal.example/{transactionId}' }),
  };
  const name = `${long ? 'long' : 'short'}-${index}`;
  const settings = settingsOf(name, written);
  return { name, written, settings, whenUnavailable, skipBelow: SKIP_BELOW, weight: 2 };
}

function settingsOf(name: string, written: Record<string, unknown>): Integration {
  const addresses = { baseUrl: 'http://127.0.0.1:1/test', portalBaseUrl: 'http://127.0.0.1:1/portal' };
  const settings = integrationSchema.parse({ ...addresses, ...written });
  return toIntegration(name, settings, { SCREENING_API_KEY: 'key' });
}
