import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createPayloadCodec } from '../../src/codec/index.ts';
import { hashedKey } from '../../src/config/index.ts';
import { anApi, type TestedApi } from './fake-order-screening.ts';

const ORIGIN = 'http://127.0.0.1:8233';
const TOKEN = 'a-random-token-of-the-path';
const key = { id: 'a', key: randomBytes(32) };
const codec = { codec: createPayloadCodec([key]), origins: [ORIGIN], token: TOKEN };
const apiKeys = [hashedKey('ops', 'key-one', { scopes: ['codec'] })];
const KEYED = { authorization: 'Bearer key-one' };

const base64 = (text: string) => Buffer.from(text).toString('base64');
const plain = { metadata: { encoding: base64('json/plain') }, data: base64('{"email":"ada@example.com"}') };

async function withCodec(options: TestedApi = {}) {
  const { app, logged } = await anApi({ codec, ...options });
  const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
    app.inject({ method: 'POST', url, payload, headers });
  return { app, logged, post };
}

describe('the codec endpoints', () => {
  it.each(['/codec', `/codec/${TOKEN}`])(
    'encode and decode at %s as Temporal’s tools ask them',
    async (at) => {
      const { post } = await withCodec();
      const encoded = await post(`${at}/encode`, { payloads: [plain, plain] });
      const [encrypted] = encoded.json().payloads;
      expect(Buffer.from(encrypted.data, 'base64').includes('ada')).toBe(false);
      const decoded = await post(`${at}/decode`, encoded.json(), { 'x-namespace': 'default' });
      expect(decoded.json()).toEqual({ payloads: [plain, plain] });
      // What is in plain passes through in its place.
      const mixed = await post(`${at}/decode`, { payloads: [plain, encrypted, { metadata: null }] });
      expect(mixed.json()).toEqual({ payloads: [plain, plain, { metadata: {} }] });
    },
  );

  it('refuse what cannot be decrypted by the id of its key, each payload by its place', async () => {
    const { post } = await withCodec();
    const [encrypted] = (await post('/codec/encode', { payloads: [plain] })).json().payloads;
    const other = { ...encrypted, metadata: { ...encrypted.metadata, 'encryption-key-id': btoa('gone') } };
    const response = await post('/codec/decode', { payloads: [plain, other, encrypted, other] });
    expect(response.statusCode).toBe(422);
    const message = 'A payload was encrypted with the key "gone", which PAYLOAD_KEYS of this process lacks';
    const errors = ['payloads[1]', 'payloads[3]'].map((path) => ({ path, message }));
    expect(response.json()).toMatchObject({ type: '/problems/invalid-request', errors });
  });

  it.each([
    [{ payloads: {} }, 'payloads'],
    [{ payloads: [{ data: 'do-not-print-me!' }] }, 'payloads[0].data'],
    [{ payloads: [{ metadata: { encoding: 1 } }] }, 'payloads[0].metadata.encoding'],
  ])('refuse %j, naming the place and no value', async (body, path) => {
    const { post, logged } = await withCodec();
    const response = await post('/codec/decode', body);
    expect(response.json()).toMatchObject({ status: 422, errors: [{ path }] });
    expect(response.body + logged()).not.toContain('do-not-print-me');
  });

  it.each([
    ['an API key', apiKeys, '/codec', KEYED],
    ['the token', apiKeys, `/codec/${TOKEN}`, {}],
    ['the token of an API without keys', [], `/codec/${TOKEN}`, {}],
  ])('limit the requests a second of who asks with %s', async (_who, apiKeys, at, headers) => {
    const { post } = await withCodec({ apiKeys, maxRps: 2 });
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      statuses.push((await post(`${at}/decode`, {}, headers)).statusCode);
    }
    // Seven in one second, or in two.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3);
    expect(statuses[0]).toBe(200);
  });
});

describe('who may have payloads decrypted', () => {
  it('is who knows the address with the token, and the log does not tell it', async () => {
    const { post, logged } = await withCodec({ apiKeys });
    expect((await post(`/codec/${TOKEN}/decode`, {})).statusCode).toBe(200);
    expect((await post(`/codec/${TOKEN.slice(1)}/decode`, {})).statusCode).toBe(401);
    expect((await post('/codec/decode', {})).statusCode).toBe(401);
    expect(logged()).toContain('/codec/:token/decode');
    expect(logged()).not.toContain(TOKEN.slice(1));
    const { token: _none, ...withoutToken } = codec;
    const without = await withCodec({ codec: withoutToken, apiKeys });
    expect((await without.post(`/codec/${TOKEN}/decode`, {})).statusCode).toBe(404);
  });

  it.each([
    ['a page of the UI’s origin', ORIGIN, '/codec/decode', ORIGIN],
    ['a page of the UI’s origin', ORIGIN, `/codec/${TOKEN}/decode`, ORIGIN],
    ['no page of another port', 'http://127.0.0.1:8234', `/codec/${TOKEN}/decode`, undefined],
    ['no page of another scheme', 'https://127.0.0.1:8233', `/codec/${TOKEN}/decode`, undefined],
    ['no page of a hidden origin', 'null', `/codec/${TOKEN}/decode`, undefined],
    ['no page on other routes', ORIGIN, '/v1/orders/order-1/recheck', undefined],
  ])('is %s, asked before any key: %s %s', async (_what, origin, url, allowed) => {
    const { app, post } = await withCodec({ apiKeys });
    const { headers } = await app.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-namespace',
      },
    });
    expect(headers['access-control-allow-origin']).toBe(allowed);
    if (allowed !== undefined) {
      expect(headers['access-control-allow-methods']).toBe('POST');
      expect(headers['access-control-allow-headers']).toContain('x-namespace');
    }
    const answer = await post(url, {}, { origin, ...KEYED });
    expect(answer.headers['access-control-allow-origin']).toBe(allowed);
  });
});
