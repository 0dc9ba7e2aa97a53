/** The workers of a life: their settings, their card stash, where they send events, and the real activities on all that. */
import { createActivities, createEventSender } from '../../../src/activities/index.ts';
import { type CardStash, CardStashError } from '../../../src/card-stash/index.ts';
import type { OrderActivities } from '../../../src/contract/calls.ts';
import type { Integration } from '../../../src/contract/policy.ts';
import { anIntegration } from '../../fixtures/integrations.ts';
import { TEST_CARD } from '../../fixtures/transactions.ts';
import { ADDRESSES, API_KEY } from '../network/http.ts';
import { running, virtualMachine } from '../network/virtual-machine.ts';
import type { Life } from '../plan/life.ts';
import { SKIP_BELOW } from '../plan/policies.ts';
import { mixed } from '../random.ts';
import type { World } from '../world.ts';

const EVENTS_URL = 'http://receiver.example/events';
const EVENTS_SECRETS = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'];
const BASE = anIntegration({ skip: [{ amountBelow: SKIP_BELOW }] });

/** Thrown where a plan says that the first screening's own code fails. */
export class PlannedFailure extends Error {}

/** @returns the activities of a worker that has just been started */
export function activitiesOf(world: World): OrderActivities {
  const { life, wire, receiver, liberties, agenda } = world;
  const machine = virtualMachine(
    (now) => liberties.skewMs(now),
    (url) => (url === EVENTS_URL ? receiver : wire),
  );
  const integration = integrationOf(life, () => (agenda.isIn('no-key') ? undefined : API_KEY));
  const { checkout, background, reads, polls } = createActivities({
    machine,
    cards: stashOf(world),
    ...(life.policy.events !== false && {
      events: { own: new Map(), common: createEventSender(EVENTS_URL, EVENTS_SECRETS, machine) },
    }),
    findIntegration: (name) => {
      if (running().breaksDown) throw new PlannedFailure();
      return name === integration.name && !agenda.isIn('no-integration') ? integration : undefined;
    },
  });
  return { ...checkout, ...background, ...reads, ...polls };
}

/** Keys of the policy file that no order keeps are drawn here. A live account knows no test cards. */
function integrationOf(
  { seed, integration: name, policy, checkoutBudgetMs, card }: Life,
  apiKey: () => string | undefined,
): Integration {
  const { events, ...settings } = policy;
  const drawn = (salt: number): boolean => mixed(seed, salt) % 2 === 0;
  const slash = drawn(13) ? '/' : '';
  return {
    ...BASE,
    ...settings,
    ...(events !== false && { events }),
    name,
    checkoutBudgetMs,
    apiKey,
    dialect: drawn(9) ? 'definition' : 'sample',
    enrich: drawn(10),
    apiKeyHeader: drawn(11),
    mode: card || drawn(12) ? 'test' : 'live',
    baseUrl: `${ADDRESSES.baseUrl}${slash}`,
    portalBaseUrl: `${ADDRESSES.portalBaseUrl}${slash}`,
    notCards: drawn(14) ? ['customer.id'] : [],
  };
}

function stashOf(world: World): CardStash {
  const { stash, agenda } = world;
  const answer = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      running().after(2, resolve);
    });
    if (agenda.isIn('stash-down')) throw new CardStashError('unreachable', 'the card stash is down');
  };
  return {
    put: () => Promise.reject(new TypeError('no worker puts a card into the stash')),
    async get({ cardRef }) {
      await answer();
      return (stash.until.get(cardRef) ?? 0) > agenda.now ? TEST_CARD : undefined;
    },
    async forget(cardRef) {
      await answer();
      stash.until.delete(cardRef);
    },
    close: async () => undefined,
  };
}
