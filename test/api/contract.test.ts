import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { OpenApi, Operation } from '../support/openapi-contract.ts';
import { aCheckoutAnswer, anApi, contractOf } from './fake-order-screening.ts';

function methodOf(name: string) {
  const method = (['GET', 'POST', 'DELETE'] as const).find((one) => one.toLowerCase() === name);
  if (method === undefined) throw new Error(`nothing here sends ${name}`);
  return method;
}

/** Every operation of the document. */
function operationsOf(
  app: FastifyInstance,
): { method: 'GET' | 'POST' | 'DELETE'; path: string; operation: Operation }[] {
  const { paths }: OpenApi = JSON.parse(JSON.stringify(app.swagger()));
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: methodOf(method),
      path,
      operation,
    })),
  );
}

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
      const where = `${method} ${path}`;
      if (method === 'POST')
        expect(operation.requestBody?.content['application/json']?.example, where).toBeDefined();
      else
        expect(
          (operation.parameters ?? []).some(({ example }) => example !== undefined),
          where,
        ).toBe(true);
    }
  });

  it('fit their own schemas', async () => {
    const { app } = await anApi();
    await app.ready();
    let seen = 0;
    for (const { path, operation } of operationsOf(app)) {
      const parts = [...Object.values(operation.requestBody?.content ?? {}), ...(operation.parameters ?? [])];
      for (const { schema, example } of parts) {
        if (example === undefined) continue;
        expect(contractOf(app).faultsOf(schema, example), path).toEqual([]);
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(20);
  });

  it('are taken when they are sent', async () => {
    const { app } = await anApi();
    await app.ready();
    for (const { method, path, operation } of operationsOf(app)) {
      const named = (place: string) =>
        (operation.parameters ?? [])
          .filter((parameter) => parameter.in === place && parameter.example !== undefined)
          .map(({ name, example }): [string, string] => [name, String(example)]);
      const url = named('path').reduce((to, [name, value]) => to.replace(`{${name}}`, value), path);
      const body = operation.requestBody?.content['application/json']?.example;
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
