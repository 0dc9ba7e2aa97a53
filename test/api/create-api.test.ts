import { describe, expect, it } from 'vitest';
import { hashedKey } from '../../src/config/index.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anApi } from './fake-order-screening.ts';

const twoKeys = [hashedKey('shop', 'key-one'), hashedKey('ops', 'key-two')];

describe('API keys', () => {
  const url = '/v1/orders/order-1';

  it.each(['key-one', 'key-two'])('let in who has one of them: %s', async (key) => {
    const { app } = await anApi({ apiKeys: twoKeys });
    const response = await app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${key}` } });
    expect(response.statusCode).toBe(200);
  });

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

  it('are asked for by every route of an order, and by none about the API itself', async () => {
    const { app } = await anApi({ apiKeys: twoKeys });
    const paths = Object.entries((await app.inject('/openapi.json')).json<OpenApi>().paths);
    for (const [path, methods] of paths) {
      for (const method of Object.keys(methods).filter(isMethod)) {
        const address = path.replace('{orderId}', 'order-1').replace('{number}', '1');
        const response = await app.inject({ method: METHODS[method], url: address });
        expect(response.statusCode, `${method} ${path}`).toBe(401);
      }
    }
    for (const address of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs/']) {
      expect((await app.inject(address)).statusCode, address).toBe(200);
    }
  });
});

interface OpenApi {
  openapi: string;
  paths: Record<string, Partial<Record<keyof typeof METHODS, Operation>>>;
}
const METHODS = { get: 'GET', post: 'POST', delete: 'DELETE' } as const;
function isMethod(name: string): name is keyof typeof METHODS {
  return Object.hasOwn(METHODS, name);
}
interface Operation {
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
}

describe('the OpenAPI document', () => {
  it('is of version 3.1 and has every route', async () => {
    const { app } = await anApi();
    const document = (await app.inject('/openapi.json')).json<OpenApi>();
    expect(document.openapi).toBe('3.1.0');
    const action = (name: string) => `/v1/orders/{orderId}/${name}`;
    const actions = ['screening', 'gateway-result', 'cancel', 'report-fraud', 'chargebacks', 'customer-code'];
    expect(Object.keys(document.paths).sort()).toEqual(
      [
        '/v1/orders',
        '/v1/orders/{orderId}',
        '/v1/card-refs',
        ...[...actions, 'actions/{number}', 'recheck', 'acknowledge'].map(action),
      ].sort(),
    );
  });

  it('describes answers, problems and path parameters of each', async () => {
    const { app } = await anApi();
    const { paths } = (await app.inject('/openapi.json')).json<OpenApi>();
    for (const [path, methods] of Object.entries(paths)) {
      for (const operation of Object.values(methods)) {
        const named = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        expect(named.map(({ name }) => name)).toEqual(
          [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        );
        expect(operation.responses[422]?.content).toHaveProperty(['application/problem+json']);
        const done = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
        expect(done.length).toBeGreaterThan(0);
        for (const [, { content }] of done)
          expect(content?.['application/json']?.schema).toBeTypeOf('object');
      }
    }
  });

  it('shows the fields of a transaction, with their limits', async () => {
    const { app } = await anApi();
    const { paths } = (await app.inject('/openapi.json')).json<OpenApi>();
    const body =
      paths['/v1/orders/{orderId}/screening']?.post?.requestBody?.content['application/json']?.schema;
    expect(body).toMatchObject({
      required: ['transaction'],
      additionalProperties: false,
      properties: {
        transaction: {
          required: expect.arrayContaining(['amount', 'customer', 'billTo', 'customerIP', 'payment']),
        },
      },
    });
  });

  it('says which bodies may be left out', async () => {
    const { app } = await anApi();
    const { paths } = (await app.inject('/openapi.json')).json<OpenApi>();
    for (const [path, { post }] of Object.entries(paths)) {
      if (post === undefined) continue;
      const response = await app.inject({ method: 'POST', url: path.replace('{orderId}', 'order-1') });
      const optional = ['cancel', 'report-fraud', 'recheck'].some((name) => path.endsWith(name));
      expect(post.requestBody?.required, path).toBe(!optional);
      if (optional) expect(response.statusCode, path).toBeLessThan(300);
    }
  });

  it('refers to nothing that it lacks', async () => {
    const { app } = await anApi();
    const document = (await app.inject('/openapi.json')).body;
    const references = [...document.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    );
    const { components } = JSON.parse(document) as { components?: { schemas?: object } };
    for (const name of references) expect(components?.schemas).toHaveProperty([String(name)]);
  });
});

describe('health', () => {
  it('is good while the process runs', async () => {
    const { app } = await anApi();
    expect((await app.inject('/healthz')).json()).toEqual({ status: 'ok' });
  });

  it('is ready only while Temporal answers', async () => {
    const { app, orderScreening } = await anApi();
    expect((await app.inject('/readyz')).statusCode).toBe(200);
    orderScreening.ping.mockRejectedValue(new OrderScreeningError('temporal-unavailable', 'Away.'));
    expect((await app.inject('/readyz')).statusCode).toBe(503);
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
