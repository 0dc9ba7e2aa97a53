/** What the client library stands on, read from the environment as the other processes read it. Design section 9. */

export { ConfigError, loadClientSettings, type TemporalSettings } from './config.ts';
