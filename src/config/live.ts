/** The rule «live without plaintext»: what a process with an integration of mode live needs, beside its policy. */
import type { NamedKey } from '../codec/sealer.ts';
import type { Integration } from '../contract/policy.ts';
import { isLoopback } from '../contract/values.ts';
import type { ErrorList } from './errors.ts';
import type { EventsReceiver } from './integrations.ts';
import type { TemporalSettings } from './temporal.ts';
import { type AllowedPlaintext, isPlaintext } from './values.ts';

/** Shorter secrets of webhooks can be guessed. */
export const LEAST_WEBHOOK_SECRET = 16;

/** A client has no webhooks, no events and no sign-in. */
interface LiveSettings {
  integrations: ReadonlyMap<string, Integration>;
  temporal: TemporalSettings;
  cardStash: { url: string; keys: readonly NamedKey[] };
  payloadKeys: readonly NamedKey[];
  allowPlaintext: readonly AllowedPlaintext[];
  webhookSecrets?: readonly string[];
  ownWebhookSecrets?: ReadonlyMap<string, readonly string[]>;
  events?: { common?: EventsReceiver | undefined };
  signIn?: { sessionKeys: readonly NamedKey[] } | undefined;
}

export function checkLiveSettings(settings: LiveSettings, errors: ErrorList): void {
  const live = [...settings.integrations.values()].filter(({ mode }) => mode === 'live');
  if (live.length === 0) return;
  checkConnections(settings, live, errors);
  checkKeys(settings, errors);
  checkWebhookSecrets(settings, live, errors);
}

function checkConnections(
  { allowPlaintext, temporal, cardStash, events }: LiveSettings,
  live: readonly Integration[],
  errors: ErrorList,
): void {
  const refuse = (name: AllowedPlaintext['name'], path: string, what: string): void => {
    if (allowPlaintext.some((allowed) => allowed.name === name)) return;
    errors.add(
      path,
      `${what} in mode live; if something else encrypts the connection, set ALLOW_PLAINTEXT=${name}:reason`,
    );
  };
  const { address, tls } = temporal.connection;
  if (!tls && !isLoopback(address.replace(/:\d+$/, ''))) {
    refuse('temporal', 'TEMPORAL_TLS', 'must be true, or certificates be set,');
  }
  if (isPlaintext(cardStash.url)) refuse('redis', 'CARD_STASH_URL', 'must be rediss://');
  if (events === undefined) return;
  if (isPlaintext(events.common?.url)) refuse('events', 'EVENTS_URL', 'must be https://');
  for (const { name, eventsUrl } of live) {
    if (isPlaintext(eventsUrl)) refuse('events', `integrations.${name}.eventsUrl`, 'must be https://');
  }
}

function checkKeys({ payloadKeys, cardStash, signIn }: LiveSettings, errors: ErrorList): void {
  if (payloadKeys.length === 0) {
    errors.addMissing(
      'PAYLOAD_KEYS',
      'is required in mode live: without it orders in Temporal are unencrypted',
    );
  }
  const { sessionKeys = [] } = signIn ?? {};
  const all = { PAYLOAD_KEYS: payloadKeys, CARD_STASH_KEYS: cardStash.keys, SESSION_KEYS: sessionKeys };
  for (const [path, keys] of Object.entries(all)) {
    if (keys.some(({ key }) => new Set(key).size === 1)) {
      errors.add(path, 'must not repeat one byte in mode live; create each key with openssl rand -base64 32');
    }
  }
}

function checkWebhookSecrets(
  { webhookSecrets = [], ownWebhookSecrets: own }: LiveSettings,
  live: readonly Integration[],
  errors: ErrorList,
): void {
  const isShort = (secret: string) => secret.length < LEAST_WEBHOOK_SECRET;
  if (live.some(({ name }) => !own?.has(name)) && webhookSecrets.some(isShort)) {
    errors.add('WEBHOOK_SECRETS', `must each have at least ${LEAST_WEBHOOK_SECRET} characters in mode live`);
  }
  for (const { name } of live.filter((one) => own?.get(one.name)?.some(isShort))) {
    const message = `names a variable with a secret of fewer than ${LEAST_WEBHOOK_SECRET} characters, too short in mode live`;
    errors.add(`integrations.${name}.webhookSecretEnv`, message);
  }
}
