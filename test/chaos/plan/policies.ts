/** The integrations of a chaos run: `default` sets only its addresses, every key of the others is drawn from the seed. */
import { integrationSchema, toIntegration } from '../../../src/config/policy-schema.ts';
import type { Integration } from '../../../src/contract/policy.ts';
import { INTEGRATION_WORKFLOWS, UNAVAILABLE_ACTIONS } from '../../../src/contract/words.ts';
import { Dice, mixed } from '../../simulation/random.ts';

export interface ChaosIntegration {
  name: string;
  /** As written in the policy file, without its addresses. */
  written: Record<string, unknown>;
  settings: Integration;
}

const COUNT = 12;
/** Except in `default`, orders of smaller amounts are not screened. */
export const SKIP_BELOW = 1;

/** @returns the integrations of the run with this seed */
export function drawIntegrations(seed: number): ChaosIntegration[] {
  return Array.from({ length: COUNT }, (_, index) => {
    const name = index === 0 ? 'default' : `integration-${index}`;
    const written = index === 0 ? {} : drawn(index, new Dice(mixed(seed, index)));
    const addresses = { baseUrl: 'http://127.0.0.1:1/test', portalBaseUrl: 'http://127.0.0.1:1/portal' };
    const settings = integrationSchema.parse({ ...addresses, ...written });
    return { name, written, settings: toIntegration(name, settings, { SCREENING_API_KEY: 'key' }) };
  });
}

function drawn(index: number, dice: Dice): Record<string, unknown> {
  const long = index % 5 === 0;
  const ms = (from: number, to: number): string => `${dice.between(from, to)}ms`;
  const unavailable = () => dice.pick(UNAVAILABLE_ACTIONS);
  return {
    workflow: INTEGRATION_WORKFLOWS[index % INTEGRATION_WORKFLOWS.length],
    invoicePerAttempt: index % 2 === 0,
    dialect: dice.pick(['definition', 'sample']),
    apiKeyHeader: dice.chance(0.5),
    enrich: dice.chance(0.7),
    checkoutBudget: ms(1_200, 3_000),
    whenUnavailable: dice.chance(0.3)
      ? [{ amountAtLeast: 100, currency: ['USD'], action: unavailable() }, { action: unavailable() }]
      : unavailable(),
    skip: [{ amountBelow: SKIP_BELOW, currency: ['USD'] }],
    notCards: dice.chance(0.3) ? ['customer.id'] : [],
    declineMessage: dice.pick(['Another way to pay, please.', 'Declined.']),
    screeningDeadline: ms(20_000, 30_000),
    rescreenOnError: { tries: dice.between(0, 3), pause: ms(1_000, 3_000) },
    retryWithin: ms(8_000, 14_000),
    gatewayResultWithin: ms(10_000, 20_000),
    reviewBeforeGateway: dice.pick(['proceed', 'hold']),
    poll: { first: ms(800, 1_500), factor: 1 + dice.between(2, 10) / 10, max: ms(3_000, 6_000) },
    reviewLeadTime: long ? '12h' : ms(6_000, 9_000),
    onUnresolvedReview: dice.pick(['alert', 'cancel']),
    reviewLimit: long ? '30d' : ms(45_000, 60_000),
    recheckLeadTime: dice.chance(0.2) ? '0s' : long ? '12h' : ms(4_000, 8_000),
    autoCancel: dice.chance(0.7),
    cancelAfterReport: Math.floor(index / 2) % 2 === 0 ? 'never' : 'always',
    cancelWindow: long ? '120h' : ms(20_000, 45_000),
    passive: dice.chance(0.1),
    events: dice.pick(['all', 'changes']),
    ...(dice.chance(0.5) && { portalLink: 'https://portal.example/{transactionId}' }),
  };
}
