import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../../src/config/index.ts';
import { OrderScreeningError } from '../../../src/starter.ts';
import { anApi } from './fake-order-screening.ts';

const twoKeys = [hashedKey('shop', 'key-one'), hashedKey('ops', 'key-two')];

describe('API keys', () => {
  const url = '/v1/orders/order-1';

  it.each(['', 'Bearer key', 'Bearer key-one key-two', `Basic ${btoa('ada:key-one')}`, 'key-one'])(
    'keep out who sends "%s"',
    async (authorization) => {
      const { app, orderScreening } = await anApi({ apiKeys: twoKeys });
      const response = await app.inject({ method: 'GET', url, headers: { authorization } });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer');
      expect(response.json()).toMatchObject({ type: '/problems/unauthorized' });
      expect(orderScreening.get).not.toHaveBeenCalled();
    },
  );

  it.each<[needed: boolean, by: string, headers: Record<string, string>]>([
    [true, 'a page of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' }],
    [true, 'a page of another port', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' }],
    [true, 'a page in an old browser', { origin: 'https://shop.example' }],
    [true, 'a page of a hidden origin', { origin: 'null' }],
    [false, 'a program', {}],
    [false, 'who types the address', { 'sec-fetch-site': 'none' }],
    [false, 'its own page', { 'sec-fetch-site': 'same-origin' }],
    [false, 'its own page in an old browser', { origin: 'http://localhost:8080', host: 'localhost:8080' }],
  ])(
    'are needed (%s), where there are none, by %s; and with one it is let in',
    async (needed, _by, headers) => {
      const recheck = { method: 'POST', url: `${url}/recheck` } as const;
      const { app, orderScreening } = await anApi();
      const response = await app.inject({ ...recheck, headers });
      expect(response.statusCode).toBe(needed ? 401 : 202);
      if (needed) expect(response.json()).toMatchObject({ type: '/problems/foreign-page' });
      expect(orderScreening.recheck).toHaveBeenCalledTimes(needed ? 0 : 1);
      const keyed = await anApi({ apiKeys: twoKeys });
      const withKey = { ...headers, authorization: 'Bearer key-one' };
      expect((await keyed.app.inject({ ...recheck, headers: withKey })).statusCode).toBe(202);
    },
  );
});

it.each(['GET', 'HEAD'] as const)(
  'is healthy while it runs, and ready while Temporal answers, by %s',
  async (method) => {
    const { app, orderScreening } = await anApi();
    const statuses = () =>
      Promise.all(['/healthz', '/readyz'].map(async (url) => (await app.inject({ method, url })).statusCode));
    expect(await statuses()).toEqual([200, 200]);
    orderScreening.ping.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Away.'));
    expect(await statuses()).toEqual([200, 503]);
  },
);

it('counts requests by route and status, never by address', async () => {
  const { app } = await anApi();
  await app.inject('/v1/orders/order-1');
  await app.inject('/nowhere/secret');
  const { body } = await app.inject('/metrics');
  expect(body).toContain('duration_seconds_count{method="GET",route="/v1/orders/:orderId",status="200"} 1');
  expect(body).toContain('process_cpu_seconds_total');
  expect(body).not.toMatch(/order-1|secret/);
});

it.each([
  ['/v1/orders/order-1', '/%76%31/%6frders/order%2D1'],
  ['/days', '/d%61ys'],
  ['/v1/webhooks/default', '/v1/w%65bhooks/default'],
  ['/metrics', '/m%65trics'],
  ['/openapi.json', '/%6Fpenapi.json'],
])('%s follows the same rules percent-encoded, as %s', async (plain, encoded) => {
  const { app } = await anApi({ apiKeys: twoKeys });
  for (const sent of [{}, { authorization: 'Bearer key-one' }, { 'sec-fetch-site': 'cross-site' }]) {
    const [one, other] = await Promise.all([plain, encoded].map((url) => app.inject({ url, headers: sent })));
    const rules = (response = one) => {
      const { date: _when, 'content-length': _size, ...more } = response?.headers ?? {};
      const { 'x-ratelimit-remaining': _left, ...headers } = more;
      return { status: response?.statusCode, headers };
    };
    expect(rules(other)).toEqual(rules(one));
  }
});

it('documents itself in valid OpenAPI 3.1', async () => {
  const { app } = await anApi();
  const document = (await app.inject('/openapi.json')).json();
  expect(await new Validator().validate(document)).toMatchObject({ valid: true });
});
