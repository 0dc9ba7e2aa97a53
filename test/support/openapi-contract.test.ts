import { describe, expect, it } from 'vitest';
import { type Answered, createContract, type OpenApi } from './openapi-contract.ts';

const thing = {
  type: 'object',
  properties: { name: { $ref: '#/components/schemas/Name' }, at: { type: 'string', format: 'date-time' } },
  required: ['name'],
  additionalProperties: false,
};
const problem = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] };
const document: OpenApi = {
  openapi: '3.1.0',
  paths: {
    '/v1/things/{id}': {
      get: {
        responses: {
          200: { content: { 'application/json': { schema: thing } } },
          503: {
            headers: { 'Retry-After': { required: true } },
            content: { 'application/problem+json': { schema: problem } },
          },
        },
      },
    },
  },
  components: { schemas: { Name: { type: 'string', minLength: 1 } } },
};
const { check, operationOf } = createContract(document);

const json = { 'content-type': 'application/json; charset=utf-8' };
const asProblem = { 'content-type': 'application/problem+json' };
const good: Answered = {
  method: 'GET',
  url: '/v1/things/7?x=1',
  status: 200,
  headers: json,
  body: '{"name":"a","at":"2026-01-01T00:00:00Z"}',
};

describe('an answer that is as documented', () => {
  it.each([
    ['of an operation', {}],
    [
      'that is a problem',
      { status: 503, headers: { ...asProblem, 'retry-after': '2' }, body: '{"type":"x"}' },
    ],
    ['from an unknown address', { url: '/v1/things', status: 404, headers: asProblem, body: '{"type":"x"}' }],
    ['to an unknown method', { method: 'PUT', status: 404, headers: asProblem, body: '{"type":"x"}' }],
    ['from elsewhere', { url: '/docs', headers: { 'content-type': 'text/html' }, body: '<html>' }],
  ] satisfies [string, Partial<Answered>][])('%s is let pass', (_case, changed) => {
    expect(() => check({ ...good, ...changed })).not.toThrow();
  });
});

describe('an answer that is not as documented', () => {
  it.each([
    ['a field that is not documented', { body: '{"name":"a","more":1}' }, /must NOT have additional/],
    ['a field that is missing', { body: '{}' }, /must have required property 'name'/],
    ['a field against a referenced schema', { body: '{"name":""}' }, /\/name must NOT have fewer/],
    ['a format', { body: '{"name":"a","at":"yesterday"}' }, /\/at must match format "date-time"/],
    ['a body that is no JSON', { body: 'a' }, /not JSON/],
    ['a status', { status: 201 }, /status 201 is not documented/],
    ['a content type', { headers: { 'content-type': 'text/plain' } }, /text\/plain is not documented/],
    ['no content type', { headers: {} }, /content type/],
    ['a missing header', { status: 503, headers: asProblem, body: '{"type":"x"}' }, /Retry-After is missing/],
    ['an unknown address that answers', { url: '/v1/things/7/more' }, /address that is not documented/],
    ['an unknown method that answers', { method: 'PUT' }, /address that is not documented/],
    [
      'a problem of another shape, wherever',
      { url: '/docs', status: 404, headers: asProblem, body: '{}' },
      /required property 'type'/,
    ],
  ] satisfies [string, Partial<Answered>, RegExp][])('is refused: %s', (_case, changed, words) => {
    expect(() => check({ ...good, ...changed })).toThrow(words);
  });
});

it('knows the operation of a request by its template', () => {
  expect(operationOf(good)).toBe('GET /v1/things/{id}');
  expect(operationOf({ ...good, method: 'POST' })).toBeUndefined();
});
