/** The settings of every process: read once at its start, all faults listed, no value printed. */

export { isSet } from './known-variables.ts';
export {
  type Config,
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadTemporalSettings,
  loadWorkerVersion,
  type Role,
} from './load-config.ts';
export { readCodecToken, readPayloadKeys, type TemporalSettings, unreachableTemporal } from './temporal.ts';
export type { LogLevel } from './values.ts';
export { ConfigError, type HashedKey, hashedKey } from './values.ts';
