/** The HTTP API over the client library. */
export { type ApiOptions, createApi } from './create-api.ts';
export { startApi } from './start-api.ts';
