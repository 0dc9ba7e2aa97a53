/** Temporal's remote codec protocol: decrypts payloads for Temporal's UI and CLI. */
import { setImmediate as othersFirst } from 'node:timers/promises';
import cors from '@fastify/cors';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { checked, fieldErrorsOf, invalidRequest } from '../../client/read-requests.ts';
import { ownerOf, PayloadCodecError } from '../../codec/index.ts';
import type { ApiKeys } from '../../config/index.ts';
import { OUR_WORDS } from '../../screening-service/index.ts';
import { isOneOf, limitRequests, requireKey, requireScope } from './callers.ts';
import { HttpError } from './problems.ts';

export interface CodecOptions {
  codec: PayloadCodec;
  /** Web origins whose pages may call the routes (CORS). */
  origins: readonly string[];
  /** Adds `/codec/<token>/decode`, which needs no API key: the token is the secret. It encrypts nothing, so its holder can't write. */
  token?: string;
}

/** Temporal accepts payloads of 2 MB; base64 makes them a third longer. */
const BODY_LIMIT = 4 * 1024 * 1024;
const MOST_PAYLOADS = 2_000;

/** Headers of Temporal's UI: always `x-namespace`, and `authorization` if it passes its user's token. */
const UI_HEADERS = ['authorization', 'content-type', 'x-namespace'];

const bytes = z.base64({ error: 'must be base64' }).transform((encoded) => Buffer.from(encoded, 'base64'));
const payloadSchema = z.object({
  metadata: z.record(z.string(), bytes).nullable().default(null),
  data: bytes.nullable().default(null),
});

/** Temporal's CLI omits `payloads` if there are none. */
const bodySchema = z.object({
  payloads: z
    .array(z.unknown())
    .max(MOST_PAYLOADS, `must have at most ${MOST_PAYLOADS} payloads: use several requests`)
    .default([]),
});

/** Adds `/decode` and `/encode`, which need an API key, and `/decode` below the token if there is one. */
export async function codecRoutes(
  app: FastifyInstance,
  { codec, origins, token, apiKeys, maxRps }: CodecOptions & { apiKeys: ApiKeys; maxRps: number },
): Promise<void> {
  const requireCodecKey = async (request: FastifyRequest) => {
    await requireKey(request, apiKeys);
    requireScope(request);
  };
  // Before the key check: a browser's preflight request has no key.
  await app.register(cors, { origin: [...origins], methods: ['POST'], allowedHeaders: UI_HEADERS });
  // Per API key, and for all token holders together.
  await limitRequests(app, { maxRps });
  const add = (action: 'decode' | 'encode', url: string, check: (request: FastifyRequest) => Promise<void>) =>
    app.post(url, {
      bodyLimit: BODY_LIMIT,
      config: { scope: 'codec' },
      schema: { hide: true },
      onRequest: async (request) => check(request),
      handler: async (request) => {
        const { payloads, owners } = await convert(codec[action], request.body);
        if (owners.size > 0) request.workflowIds = [...owners];
        return { payloads };
      },
    });
  add('decode', '/decode', requireCodecKey);
  add('encode', '/encode', requireCodecKey);
  if (token !== undefined) {
    add('decode', '/:token/decode', async (request) => {
      if (isOneOf([token], z.object({ token: z.string() }).parse(request.params).token)) return;
      await app.wrongKey(request);
      throw new HttpError('unauthorized');
    });
  }
}

/**
 * Converts one payload per event-loop turn. The error names the first payload that can't be converted.
 * @returns the payloads, and the ids of the workflows that they belong to
 */
async function convert(one: PayloadCodec['decode'], body: unknown) {
  const { payloads } = checked(bodySchema, body);
  const converted: ReturnType<typeof toJson>[] = [];
  const owners = new Set<string>();
  for (const [index, sent] of payloads.entries()) {
    await othersFirst();
    const at = `payloads[${index}]`;
    const payload = payloadSchema.safeParse(sent, OUR_WORDS);
    if (!payload.success) {
      const errors = fieldErrorsOf(payload.error);
      throw invalidRequest(
        errors.map(({ path, message }) => ({ path: path === '' ? at : `${at}.${path}`, message })),
      );
    }
    try {
      converted.push(...(await one([payload.data])).map(toJson));
      const owner = ownerOf(payload.data);
      if (owner !== undefined) owners.add(owner);
    } catch (error) {
      if (!(error instanceof PayloadCodecError)) throw error;
      throw invalidRequest([{ path: at, message: error.message }]);
    }
  }
  await othersFirst();
  return { payloads: converted, owners };
}

function toJson({ metadata, data }: Payload) {
  const base64 = (value: Uint8Array) => Buffer.from(value).toString('base64');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)] as const);
  return { metadata: Object.fromEntries(entries), ...(data && { data: base64(data) }) };
}
