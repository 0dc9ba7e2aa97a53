/** What the OpenAPI document says of itself. `refusals.test.ts` and `test/e2e/contract.test.ts` provoke the errors that it names. */
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { OpenApi, Operation } from '../support/openapi-contract.ts';
import { anApi, anOrderSummary, contractOf } from './fake-order-screening.ts';

function methodOf(name: string) {
  const method = (['GET', 'POST', 'DELETE'] as const).find((one) => one.toLowerCase() === name);
  if (method === undefined) throw new Error(`nothing here sends ${name}`);
  return method;
}

/** Every operation of the document. */
async function operationsOf(
  app: FastifyInstance,
): Promise<{ method: 'GET' | 'POST' | 'DELETE'; path: string; operation: Operation }[]> {
  await app.ready();
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
    for (const { method, path, operation } of await operationsOf(app)) {
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
    let seen = 0;
    for (const { path, operation } of await operationsOf(app)) {
      const parts = [...Object.values(operation.requestBody?.content ?? {}), ...(operation.parameters ?? [])];
      for (const { schema, example } of parts) {
        if (example === undefined) continue;
        expect(contractOf(app).faultsOf(schema, example), path).toEqual([]);
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(20);
  });
});

it('a body may be left out where the document says so', async () => {
  const { app, orderScreening } = await anApi();
  const optional: string[] = [];
  for (const { method, path, operation } of await operationsOf(app)) {
    if (method !== 'POST' || operation.requestBody?.required === true) continue;
    optional.push(path.replace(/.*\//, ''));
    const url = path.replace('{orderId}', 'order-1').replace('{sequence}', '1');
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      expect((await app.inject({ method, url, headers })).statusCode, path).toBeLessThan(300);
    }
  }
  expect(orderScreening.cancel.mock.calls.map(([, body]) => body)).toEqual([{}, {}]);
  expect(optional.sort()).toEqual(['cancel', 'recheck', 'redeliver', 'report-fraud']);
});

it('a test fails whose API answers what is not documented', async () => {
  const { app, orderScreening } = await anApi();
  orderScreening.list.mockResolvedValue({ orders: [anOrderSummary({ startedAt: 'yesterday' })] });
  await expect(app.inject('/v1/orders')).rejects.toThrow(/\/orders\/0\/startedAt must match/);
});
