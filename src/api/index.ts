/** The HTTP API over the client library. */
export { type ApiOptions, createApi } from './create-api.ts';
