/** The variables of a proxy, as other programs read them: the screening service and events receivers are reached through it. */
import { once } from 'node:events';
import http from 'node:http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createEventSender } from '../../src/activities/index.ts';
import type { OrderEvent } from '../../src/contract/messages.ts';
import { exchange } from '../../src/screening-service/exchange.ts';
import { MACHINE } from '../../src/screening-service/index.ts';
import { stubService } from './stub-service.ts';

let service: Awaited<ReturnType<typeof stubService>>;
let proxy: http.Server;
/** What the proxy was asked for. */
let asked: string[];

beforeEach(async () => {
  service = await stubService();
  asked = [];
  proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200).end('{"through":"the proxy"}');
  });
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  const address = `http://127.0.0.1:${port}`;
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, address);
  vi.stubEnv('NO_PROXY', 'not-proxied.example');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  proxy.closeAllConnections();
  proxy.close();
  await service.close();
});

const EVENT: OrderEvent = {
  id: 'default:A-1:1',
  type: 'order.decided',
  orderId: 'A-1',
  integration: 'default',
  sequence: 1,
  occurredAt: '2026-11-21T08:00:00.000Z',
  data: { phase: 'decided', decision: 'pass', action: 'proceed', attempt: 1, attention: [] },
};
const get = (url: string) => exchange(MACHINE, { operation: 'status-by-url', url, timeoutMs: 2_000 });

it('a request over http goes to the proxy', async () => {
  expect((await get('http://service.example/status')).text).toContain('the proxy');
  expect(asked).toEqual(['GET http://service.example/status']);
});

it('a request over https asks the proxy for a connection; if it gives none, nothing was sent to the service', async () => {
  const reply = await get('https://service.example/status');
  expect(reply.status).toBe(502);
  expect(asked).toEqual(['CONNECT service.example:443']);
});

it('an event goes to the proxy', async () => {
  const send = createEventSender('http://shop.example/events', [`whsec_${'a'.repeat(32)}`]);
  await send(EVENT, 2_000);
  expect(asked).toEqual(['POST http://shop.example/events']);
});

it('neither this machine nor what NO_PROXY names is reached through the proxy', async () => {
  await get(`${service.url}/status`);
  await expect(get('https://not-proxied.example/status')).rejects.toMatchObject({ reason: 'dns' });
  expect(asked).toEqual([]);
});
