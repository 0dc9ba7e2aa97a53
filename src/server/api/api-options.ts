/** What the API and its pages are created from. */
import type { ApiKeys } from '../../config/index.ts';
import type { FindIntegration } from '../../contract/policy.ts';
import type { Log } from '../../platform/log.ts';
import type { OrderScreening } from '../../starter.ts';
import type { TemporalUi } from '../dashboard/addresses.ts';
import type { CONNECTION_OPTIONS } from './callers.ts';
import type { CodecOptions } from './codec-routes.ts';
import type { SignIn } from './oidc.ts';

export interface ApiOptions {
  orderScreening: OrderScreening;
  /** The valid bearer keys. None: every caller is accepted. */
  apiKeys: ApiKeys;
  /** Maximum requests per second and key. No limit without keys. */
  maxRps: number;
  /** Finds the policy whose `notCards` allows ids that look like card numbers. Absent: none are allowed. */
  findIntegration?: FindIntegration;
  /** Proxies and networks whose `X-Forwarded-For` is trusted. Default: none. */
  trustProxy?: readonly string[];
  /** The valid webhook secrets. None: every webhook is rejected. */
  webhookSecrets: readonly string[];
  /** The only valid ones of the integrations that have their own. */
  ownWebhookSecrets?: ReadonlyMap<string, readonly string[]>;
  /** Absent: no codec routes for Temporal's UI. */
  codec?: Omit<CodecOptions, 'maxRps'>;
  /** The Temporal UI that the pages link to. Absent: no links. */
  temporalUi?: TemporalUi;
  /** All configured integrations. The queue page searches for an order in each. */
  integrations?: readonly string[];
  /** Time zone of the pages. Default: UTC. */
  timeZone?: string;
  /** How people sign in to the pages. Absent: by API keys only. */
  signIn?: SignIn;
  log: Log;
  connection?: Partial<typeof CONNECTION_OPTIONS>;
}
