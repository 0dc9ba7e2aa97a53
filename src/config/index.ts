/** The settings of every process: read once at its start, all faults listed, no value printed. */

export {
  type ApiKey,
  type ApiKeys,
  hashedKey,
  KeysOfFile,
  SCOPES,
  type Scope,
} from './api-keys.ts';
export type { LogLevel } from './known-variables.ts';
export {
  type Config,
  type EventsReceiver,
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadTemporalSettings,
  loadWorkerVersion,
  type Role,
} from './load-config.ts';
export { readCodecToken, readPayloadKeys, type TemporalSettings, unreachableTemporal } from './temporal.ts';
export { ConfigError, isSet } from './values.ts';
