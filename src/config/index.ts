/** The settings of every process: read once when it starts, all errors listed, no value printed. */

export {
  type ApiKey,
  type ApiKeys,
  hashedKey,
  KeysOfFile,
  SCOPES,
  type Scope,
  SIGNED_IN,
} from './api-keys.ts';
export type { LogLevel } from './environment.ts';
export { ConfigError } from './errors.ts';
export type { EventsReceiver } from './integrations.ts';
export {
  type ClientSettings,
  type Config,
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadTemporalSettings,
  loadWorkerVersion,
  type Role,
  readCodecToken,
  readPayloadKeys,
} from './load-config.ts';
export type { SignInSettings } from './sign-in.ts';
export { type TemporalSettings, unreachableTemporal } from './temporal.ts';
export { isSet } from './values.ts';
