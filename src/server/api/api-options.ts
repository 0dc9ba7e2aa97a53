/** What the API and its pages are created from. */
import type { ApiKeys, Config } from '../../config/index.ts';
import type { Log } from '../../platform/log.ts';
import type { OrderScreening } from '../../starter.ts';
import type { TemporalUi } from '../dashboard/addresses.ts';
import type { CONNECTION_OPTIONS } from './callers.ts';
import type { CodecOptions } from './codec-routes.ts';
import type { SignIn } from './oidc.ts';

/**
 * With `findIntegration`, the `notCards` of its policy allow ids that look like card numbers. `trustProxy`: the proxies and networks
 * whose `X-Forwarded-For` is trusted. Integrations in `ownWebhookSecrets` accept no others.
 */
export interface ApiOptions
  extends Pick<Config, 'webhookSecrets'>,
    Partial<Pick<Config, 'findIntegration' | 'ownWebhookSecrets'> & Pick<Config['api'], 'trustProxy'>> {
  orderScreening: OrderScreening;
  /** The valid bearer keys. None: every caller is accepted. */
  apiKeys: ApiKeys;
  /** Maximum requests per second and key. No limit without keys. */
  maxRps: number;
  /** Absent: no codec routes for Temporal's UI. */
  codec?: CodecOptions;
  /** The Temporal UI that the pages link to. Absent: no links. */
  temporalUi?: TemporalUi | undefined;
  /** All configured integrations. The queue page searches for an order in each. */
  integrations?: readonly string[];
  /** Time zone of the pages. Default: UTC. */
  timeZone?: string;
  /** How people sign in to the pages. Absent: by API keys only. */
  signIn?: SignIn | undefined;
  log: Log;
  connection?: Partial<typeof CONNECTION_OPTIONS>;
}
