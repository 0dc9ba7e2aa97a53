import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi } from './fake-order-screening.ts';

const twoKeys = [hashedKey('shop', 'key-one'), hashedKey('ops', 'key-two')];

describe('API keys', () => {
  const url = '/v1/orders/order-1';

  it.each([undefined, 'Bearer key', 'Bearer key-one key-two', 'Basic key-one', 'key-one'])(
    'keep out who sends %s',
    async (authorization) => {
      const { app, orderScreening } = await anApi({ apiKeys: twoKeys });
      const headers = authorization === undefined ? {} : { authorization };
      const response = await app.inject({ method: 'GET', url, headers });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer');
      expect(response.json()).toMatchObject({ type: '/problems/unauthorized' });
      expect(orderScreening.get).not.toHaveBeenCalled();
    },
  );

  const foreign = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://shop.example' },
    { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
    { origin: 'https://shop.example' },
    { origin: 'null' },
  ];

  it.each(foreign)('are needed by pages of other addresses: %j', async (headers) => {
    const { app, orderScreening } = await anApi();
    const response = await app.inject({ method: 'POST', url: `${url}/recheck`, headers });
    expect(response.statusCode).toBe(401);
    expect(response.json()).toMatchObject({ type: '/problems/foreign-page' });
    expect(orderScreening.recheck).not.toHaveBeenCalled();
  });

  it.each([
    {},
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin' },
    { origin: 'http://localhost:8080', host: 'localhost:8080' },
  ])('are not needed without any by programs and by its own pages: %j', async (headers) => {
    const { app } = await anApi();
    expect((await app.inject({ url, headers })).statusCode).toBe(200);
  });

  it.each(foreign)('let pages of other addresses in: %j', async (headers) => {
    const { app } = await anApi({ apiKeys: twoKeys });
    const keyed = { ...headers, authorization: 'Bearer key-one' };
    expect((await app.inject({ url, headers: keyed })).statusCode).toBe(200);
  });
});

describe('health', () => {
  it('is good while the process runs', async () => {
    const { app } = await anApi();
    expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok' });
  });

  it.each(['GET', 'HEAD'] as const)('is ready only while Temporal answers, asked by %s', async (method) => {
    const { app, orderScreening } = await anApi();
    expect((await app.inject({ method, url: '/readyz' })).statusCode).toBe(200);
    orderScreening.ping.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Away.'));
    expect((await app.inject({ method, url: '/readyz' })).statusCode).toBe(503);
  });

  it('is told by HEAD as by GET, without a body', async () => {
    const { app } = await anApi();
    const { statusCode, body } = await app.inject({ method: 'HEAD', url: '/healthz' });
    expect([statusCode, body]).toEqual([200, '']);
  });
});

it('counts requests by route and status, never by address', async () => {
  const { app } = await anApi();
  await app.inject('/v1/orders/order-1');
  await app.inject('/nowhere/secret');
  const { body } = await app.inject('/metrics');
  expect(body).toMatch(
    /order_screening_http_request_duration_seconds_count\{method="GET",route="\/v1\/orders\/:orderId",status="200"\} 1/,
  );
  expect(body).toContain('process_cpu_seconds_total');
  expect(body).not.toMatch(/order-1|secret/);
});
