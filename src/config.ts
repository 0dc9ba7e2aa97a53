/** The settings of every process: read once at its start, all faults listed, no value printed. Design sections 4 and 9. */

export { readCodecToken, readPayloadKeys } from './config/codec.ts';
export { ConfigError } from './config/fault-list.ts';
export {
  type Config,
  inspectConfig,
  loadClientSettings,
  loadConfig,
  loadLocalSettings,
  loadTemporalSettings,
  loadWorkerVersion,
  type Role,
} from './config/load-config.ts';
export type { LogLevel } from './config/log-level.ts';
export { type TemporalSettings, unreachableTemporal } from './config/temporal.ts';
export { type HashedKey, hashedKey } from './config/values.ts';
export { isSet } from './config/variables.ts';
