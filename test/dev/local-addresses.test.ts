import { fastify } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codecEndpoint, webhookUrl } from '../../src/dev/local-stack.ts';

const api = { host: '127.0.0.1', port: 8080, keys: [], maxRps: 1, trustProxy: [] };

describe('the addresses that npm start gives to its parts', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080'],
    ['localhost', 'http://localhost:8080'],
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['192.0.2.7', 'http://192.0.2.7:8080'],
    ['::1', 'http://[::1]:8080'],
    ['::', 'http://[::1]:8080'],
  ])('lead to an API that listens on %s', (host, origin) => {
    const codec = { origins: [], token: 'token' };
    expect(codecEndpoint({ api: { ...api, host }, codec })).toBe(`${origin}/codec/token`);
    expect(webhookUrl({ api: { ...api, host }, webhookSecrets: ['secret'] })).toBe(
      `${origin}/v1/webhooks/default/secret`,
    );
  });

  it('carry a webhook secret with signs of an address whole', async () => {
    const secret = 'a+b/c%d?e=f#g';
    const app = fastify();
    onTestFinished(() => app.close());
    app.get<{ Params: { secret: string } }>('/v1/webhooks/default/:secret', async ({ params }) => params);
    const { pathname, search } = new URL(webhookUrl({ api, webhookSecrets: [secret] }));
    expect((await app.inject(`${pathname}${search}`)).json()).toEqual({ secret });
  });
});
