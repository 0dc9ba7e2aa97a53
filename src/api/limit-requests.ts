import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import type { HashedKey } from '../config.ts';
import { HttpError } from './problems.ts';

/** Limits what each key may send a second to the routes of a scope; without keys there is no limit. */
export async function limitRequests(
  scope: FastifyInstance,
  { apiKeys, maxRps }: { apiKeys: readonly HashedKey[]; maxRps: number },
): Promise<void> {
  await scope.register(rateLimit, {
    max: maxRps,
    timeWindow: 1_000,
    keyGenerator: ({ keyName }) => keyName ?? '',
    allowList: () => apiKeys.length === 0,
    errorResponseBuilder: () => new HttpError('too-many-requests'),
  });
}
