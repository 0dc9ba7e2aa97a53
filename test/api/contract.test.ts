import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { MediaType, OpenApi, Operation } from '../support/openapi-contract.ts';
import { aCheckoutAnswer, anApi, contractOf } from './fake-order-screening.ts';

/** Every operation of the document. */
function operationsOf(app: FastifyInstance): { method: 'GET' | 'POST'; path: string; operation: Operation }[] {
  const { paths }: OpenApi = JSON.parse(JSON.stringify(app.swagger()));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method === 'get' ? ('GET' as const) : ('POST' as const),
      path,
      operation,
    })),
  );
}

const examplesOf = ({ examples = {} }: Pick<MediaType, 'examples'>) =>
  Object.values(examples).map(({ value }) => value);

it('the document is valid OpenAPI 3.1', async () => {
  const { app } = await anApi();
  await app.ready();
  const result = await new Validator().validate(JSON.parse(JSON.stringify(app.swagger())));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

describe('the examples', () => {
  it('are there for the body of each operation that takes one, and for each address', async () => {
    const { app } = await anApi();
    await app.ready();
    for (const { method, path, operation } of operationsOf(app)) {
      const examples = [
        ...Object.values(operation.requestBody?.content ?? {}).flatMap(examplesOf),
        ...(operation.parameters ?? []).flatMap(examplesOf),
      ];
      expect(examples.length, `${method} ${path}`).toBeGreaterThan(0);
      if (method === 'POST')
        expect(operation.requestBody?.content['application/json']?.examples, path).toBeDefined();
    }
  });

  it('fit their own schemas', async () => {
    const { app } = await anApi();
    await app.ready();
    let seen = 0;
    for (const { path, operation } of operationsOf(app)) {
      const parts: { schema: object; examples?: MediaType['examples'] }[] = [
        ...Object.values(operation.requestBody?.content ?? {}),
        ...(operation.parameters ?? []),
      ];
      for (const { schema, examples } of parts) {
        for (const example of examplesOf({ ...(examples && { examples }) })) {
          expect(contractOf(app).faultsOf(schema, example), path).toEqual([]);
          seen += 1;
        }
      }
    }
    expect(seen).toBeGreaterThan(20);
  });

  it('are taken when they are sent', async () => {
    const { app } = await anApi();
    await app.ready();
    for (const { method, path, operation } of operationsOf(app)) {
      const named = (place: string) =>
        (operation.parameters ?? []).flatMap((parameter) => {
          const [example] = examplesOf(parameter);
          return parameter.in === place && example !== undefined ? [[parameter.name, String(example)]] : [];
        });
      const url = path.replace(/\{(\w+)\}/, (_whole, name) => Object.fromEntries(named('path'))[name]);
      const [body] = examplesOf(operation.requestBody?.content['application/json'] ?? {});
      const response = await app.inject({
        method,
        url,
        query: Object.fromEntries(named('query')),
        headers: {
          ...Object.fromEntries(named('header')),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      });
      expect(response.statusCode, `${method} ${path}: ${response.body}`).toBeLessThan(300);
    }
  });
});

describe('a test fails whose API', () => {
  it('answers a field that is not documented', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.cancel.mockResolvedValue(
      Object.assign(aCheckoutAnswer(), { kind: 'cancel', status: 'done' } as const),
    );
    await expect(app.inject({ method: 'POST', url: '/v1/orders/order-1/cancel' })).rejects.toThrow(
      /POST \/v1\/orders\/order-1\/cancel → 200 is not as documented: .*additional properties/,
    );
  });

  it('answers a value that is not documented', async () => {
    const { app, orderScreening } = await anApi();
    orderScreening.list.mockResolvedValue({
      orders: [
        {
          orderId: 'order-1',
          integration: 'default',
          needsAttention: false,
          transactionIds: [],
          startedAt: 'yesterday',
        },
      ],
    });
    await expect(app.inject('/v1/orders')).rejects.toThrow(/\/orders\/0\/startedAt must match/);
  });
});
