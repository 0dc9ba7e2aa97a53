import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createPayloadCodec } from '../../../src/codec/index.ts';
import { type ApiKey, hashedKey } from '../../../src/config/index.ts';
import { anApi } from './fake-order-screening.ts';

const ORIGIN = 'http://127.0.0.1:8233';
const TOKEN = 'a-random-token-of-the-path';
const key = { id: 'a', key: randomBytes(32) };
const codecOptions = { codec: createPayloadCodec([key]), origins: [ORIGIN], token: TOKEN };

const plain = {
  metadata: { encoding: Buffer.from('json/plain').toString('base64') },
  data: Buffer.from('{"email":"ada@example.com"}').toString('base64'),
};

const withCodec = (options: { apiKeys?: ApiKey[] } = {}) => anApi({ codec: codecOptions, ...options });
type App = Awaited<ReturnType<typeof withCodec>>['app'];

const post = (app: App, url: string, payload: object, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url, payload, headers });

describe('the codec endpoints', () => {
  it.each(['/codec', `/codec/${TOKEN}`])('decode at %s, and let pass what is in plain', async (at) => {
    const { app } = await withCodec();
    const encoded = await post(app, '/codec/encode', { payloads: [plain, plain] });
    expect(encoded.statusCode).toBe(200);
    expect(encoded.json().payloads).toHaveLength(2);
    expect(Buffer.from(encoded.json().payloads[0].data, 'base64').includes('ada')).toBe(false);
    const payloads = [plain, ...encoded.json().payloads, { metadata: null }];
    const decoded = await post(app, `${at}/decode`, { payloads }, { 'x-namespace': 'default' });
    expect(decoded.json()).toEqual({ payloads: [plain, plain, plain, { metadata: {} }] });
  });

  it('encrypt nothing for the token, which every browser of the UI gets', async () => {
    const { app } = await withCodec();
    const refused = await post(app, `/codec/${TOKEN}/encode`, { payloads: [plain] });
    expect(refused.json()).toMatchObject({ status: 404, type: '/problems/not-found' });
  });

  it('take no payloads at all, which Temporal’s CLI sends with a query', async () => {
    const { app } = await withCodec();
    const answer = await post(app, '/codec/encode', {});
    expect(answer.json()).toEqual({ payloads: [] });
  });

  it('take a payload as large as Temporal does', async () => {
    const { app } = await withCodec();
    const large = { ...plain, data: Buffer.alloc(2_000_000, 'a').toString('base64') };
    expect((await post(app, '/codec/encode', { payloads: [large] })).statusCode).toBe(200);
  });

  it('refuse what cannot be decrypted by the id of its key, and name the place of the first', async () => {
    const { app } = await withCodec();
    const [encrypted] = (await post(app, '/codec/encode', { payloads: [plain] })).json().payloads;
    const other = { ...encrypted, metadata: { ...encrypted.metadata, 'encryption-key-id': btoa('gone') } };
    const response = await post(app, '/codec/decode', { payloads: [plain, other, encrypted, other] });
    expect(response.statusCode).toBe(422);
    const message = 'A payload was encrypted with the key "gone", which PAYLOAD_KEYS of this process lacks';
    expect(response.json()).toMatchObject({
      type: '/problems/invalid-request',
      errors: [{ path: 'payloads[1]', message }],
    });
  });

  it.each([
    ['payloads that are no list', { payloads: {} }, 'payloads'],
    ['data that is not base64', { payloads: [{ data: 'do-not-print-me!' }] }, 'payloads[0].data'],
    [
      'metadata that are not base64',
      { payloads: [{ metadata: { encoding: 1 } }] },
      'payloads[0].metadata.encoding',
    ],
  ])('refuse %s, naming the place and no value', async (_what, body, path) => {
    const { app, logged } = await withCodec();
    const response = await post(app, '/codec/decode', body);
    expect(response.statusCode).toBe(422);
    expect(response.json().errors).toMatchObject([{ path }]);
    expect(response.body + logged()).not.toContain('do-not-print-me');
  });
});

describe('the codec’s limit of requests a second', () => {
  const ops = [hashedKey('ops', 'key-one', { scopes: ['codec'] })];

  it.each([
    ['an API key', ops, '/codec', { authorization: 'Bearer key-one' }],
    ['the token', ops, `/codec/${TOKEN}`, {}],
    ['the token of an API without keys', [], `/codec/${TOKEN}`, {}],
  ])('holds for who asks with %s', async (_who, apiKeys, at, headers) => {
    const { app } = await anApi({ codec: codecOptions, apiKeys, maxRps: 2 });
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      statuses.push((await post(app, `${at}/decode`, {}, headers)).statusCode);
    }
    // Seven in one second, or in two.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
    expect(statuses[0]).toBe(200);
  });
});

describe('who may have payloads decrypted', () => {
  const decode = { payloads: [plain] };

  it('is who knows the address with the token, and the log does not tell it', async () => {
    const { app, logged } = await withCodec({ apiKeys: [hashedKey('ops', 'key-one')] });
    expect((await post(app, `/codec/${TOKEN}/decode`, decode)).statusCode).toBe(200);
    const wrong = await post(app, `/codec/${TOKEN.slice(1)}/decode`, decode);
    expect(wrong.statusCode).toBe(401);
    expect(logged()).toContain('/codec/:token/decode');
    expect(logged()).not.toContain(TOKEN.slice(1));
  });

  it('is nobody by a token when none is configured', async () => {
    const { token: _none, ...withoutToken } = codecOptions;
    const { app } = await anApi({ codec: withoutToken, apiKeys: [hashedKey('ops', 'key-one')] });
    expect((await post(app, `/codec/${TOKEN}/decode`, decode)).statusCode).toBe(404);
  });

  const preflight = (app: App, url: string, origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });

  it.each(['/codec/decode', `/codec/${TOKEN}/decode`])(
    'is a page of the UI’s origin, asked before any key: %s',
    async (url) => {
      const { app } = await withCodec({ apiKeys: [hashedKey('ops', 'key-one')] });
      const { statusCode, headers } = await preflight(app, url, ORIGIN);
      expect(statusCode).toBe(204);
      expect(headers['access-control-allow-origin']).toBe(ORIGIN);
      expect(headers['access-control-allow-methods']).toBe('POST');
      expect(String(headers['access-control-allow-headers'])).toContain('x-namespace');
      const answer = await post(app, `/codec/${TOKEN}/decode`, decode, { origin: ORIGIN });
      expect(answer.headers['access-control-allow-origin']).toBe(ORIGIN);
    },
  );

  it.each(['http://127.0.0.1:8234', 'https://127.0.0.1:8233', 'https://evil.example', 'null'])(
    'is no page of another origin: %s',
    async (origin) => {
      const { app } = await withCodec();
      const asked = await preflight(app, `/codec/${TOKEN}/decode`, origin);
      expect(asked.headers).not.toHaveProperty('access-control-allow-origin');
      const answer = await post(app, `/codec/${TOKEN}/decode`, decode, { origin });
      expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  it('is no page at all on other routes', async () => {
    const { app } = await withCodec();
    const { headers } = await preflight(app, '/v1/orders/order-1', ORIGIN);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});
