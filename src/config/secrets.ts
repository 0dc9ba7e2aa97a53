/** The secrets of events and webhooks: common ones, and those of an integration that has its own. */
import type { z } from 'zod';
import type { Integration } from '../contract/policy.ts';
import type { ReadVariable } from './environment.ts';
import type { ErrorList } from './errors.ts';
import { IN_QUOTES, isQuoted, isSet, list, signingSecrets } from './values.ts';

/** Receives events. Each event is signed with all secrets, so that one can be replaced without a gap. */
export interface EventsReceiver {
  url: string;
  secrets: string[];
}

/** Shorter secrets of webhooks can be guessed. */
export const LEAST_WEBHOOK_SECRET = 16;

/** Returns the receivers of events: the common one, and those of integrations that have their own. */
export function readEvents(
  read: ReadVariable,
  integrations: readonly Integration[],
  errors: ErrorList,
): { own: ReadonlyMap<string, EventsReceiver>; common?: EventsReceiver | undefined } {
  const url = read('EVENTS_URL');
  const secrets = read('EVENTS_SECRETS');
  if (url !== undefined && secrets === undefined) {
    errors.addMissing('EVENTS_SECRETS', 'is required with EVENTS_URL: events are signed');
  }
  const own = new Map<string, EventsReceiver>();
  for (const { name, eventsUrl, eventsSecret } of integrations) {
    if (eventsUrl === undefined && eventsSecret === undefined) continue;
    const path = `integrations.${name}.eventsSecretEnv`;
    const ownUrl = eventsUrl ?? url;
    const ownSecrets = eventsSecret === undefined ? secrets : readOwnSecrets(path, eventsSecret(), errors);
    if (eventsSecret === undefined && secrets === undefined) {
      errors.add(path, 'is required with eventsUrl unless EVENTS_SECRETS is set: events are signed');
    }
    if (ownUrl !== undefined && ownSecrets !== undefined) own.set(name, { url: ownUrl, secrets: ownSecrets });
  }
  const common = url === undefined || secrets === undefined ? undefined : { url, secrets };
  return { own, common };
}

export function readOwnWebhookSecrets(
  integrations: readonly Integration[],
  errors: ErrorList,
): ReadonlyMap<string, readonly string[]> {
  const own = integrations.flatMap(({ name, webhookSecret }) => {
    if (webhookSecret === undefined) return [];
    const path = `integrations.${name}.webhookSecretEnv`;
    return [[name, readOwnSecrets(path, webhookSecret(), errors, list) ?? []] as const];
  });
  return new Map(own);
}

/** Returns the secrets in a variable that the policy file names at `path`. */
function readOwnSecrets(
  path: string,
  held: string | undefined,
  errors: ErrorList,
  secrets: z.ZodType<string[]> = signingSecrets,
): string[] | undefined {
  const { data, error } = secrets.safeParse(held ?? '');
  const problem = isQuoted(held) ? IN_QUOTES : isSet(held) ? error?.issues[0]?.message : 'is not set';
  if (problem !== undefined) errors.add(path, `names a variable that ${problem}`);
  return data;
}
