import type { Config } from '../config.ts';
import type { EmbeddedTemporalOptions } from './embedded-temporal.ts';

/** @returns what the embedded server is to be: where the settings look for it, with the namespace that they name */
export function embeddedOptions({
  local,
  temporal,
}: Pick<Config, 'local' | 'temporal'>): EmbeddedTemporalOptions {
  return {
    port: local.temporalPort,
    uiPort: local.temporalUiPort,
    dataDir: local.dataDir,
    namespace: temporal.namespace,
  };
}
