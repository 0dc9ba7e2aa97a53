export {
  type EmbeddedTemporal,
  type EmbeddedTemporalOptions,
  startEmbeddedTemporal,
} from './embedded-temporal.ts';
export { missingSearchAttributes, type TemporalServices } from './missing-search-attributes.ts';
export { assertPortFree, freePort } from './ports.ts';
export { type Progress, streamProgress } from './progress.ts';
export { findTemporalBinary } from './temporal-binary.ts';
export { setupTemporal } from './temporal-namespace.ts';
