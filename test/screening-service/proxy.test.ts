/** The variables of a proxy, as other programs read them: the screening service and events receivers are reached through it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createEventSender } from '../../src/activities/index.ts';
import { exchange } from '../../src/screening-service/exchange.ts';
import { MACHINE } from '../../src/screening-service/index.ts';
import { anOrderEvent } from '../fixtures/events.ts';
import { eventually, listen, startServer } from '../support/index.ts';
import { ROOT } from '../support/pages.ts';
import { stubService } from './stub-service.ts';

let service: Awaited<ReturnType<typeof stubService>>;
let proxy: http.Server;
/** What the proxy was asked for. */
let asked: string[];
/** The port on this machine that the proxy connects to, for an address over https; undefined: it refuses. */
let leadsTo: number | undefined;
let refusal: string;

beforeEach(async () => {
  service = await stubService();
  asked = [];
  proxy = http.createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(200).end('{"through":"the proxy"}');
  });
  leadsTo = undefined;
  proxy.on('connect', (request, socket) => {
    asked.push(`CONNECT ${request.url}`);
    if (leadsTo === undefined) {
      socket.end(`HTTP/1.1 ${refusal}\r\n\r\n`);
      return;
    }
    const tunnel = connect(leadsTo, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(tunnel).pipe(socket);
    });
    for (const end of [socket, tunnel]) end.on('error', () => undefined);
  });
  const { url: address } = await startServer(proxy);
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) vi.stubEnv(name, address);
  vi.stubEnv('NO_PROXY', 'not-proxied.example');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  proxy.closeAllConnections();
  proxy.close();
  await service.close();
});

const get = (url: string) => exchange(MACHINE, { operation: 'status-by-url', url, timeoutMs: 2_000 });

it('a request over http goes to the proxy', async () => {
  expect((await get('http://service.example/status')).text).toContain('the proxy');
  expect(asked).toEqual(['GET http://service.example/status']);
});

it.each(['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway'])(
  'a request over https asks the proxy for a connection; its %s is not the service’s, to which nothing was sent',
  async (answer) => {
    refusal = answer;
    const refused = { outcome: 'not-done', reason: 'proxy' };
    await expect(get('https://service.example/status')).rejects.toMatchObject(refused);
    expect(asked).toEqual(['CONNECT service.example:443']);
  },
);

it('a proxy written without a scheme, as other programs take it, speaks plain HTTP', async () => {
  refusal = '403 Forbidden';
  vi.stubEnv('HTTPS_PROXY', `127.0.0.1:${Object(proxy.address()).port}`);
  await expect(get('https://service.example/status')).rejects.toMatchObject({ reason: 'proxy' });
  expect(asked).toEqual(['CONNECT service.example:443']);
});

it('a call that ended while the proxy said nothing leaves no connection to it open', async () => {
  const open = new Set<Socket>();
  const silent = await listen((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    socket.resume();
  });
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${silent}`);
  const url = 'https://service.example/status';
  const call = exchange(MACHINE, { operation: 'status-by-url', url, timeoutMs: 500 });
  await expect(call).rejects.toMatchObject({ reason: 'timeout' });
  expect(open.size).toBe(1);
  await eventually(() => expect(open.size).toBe(0));
});

/** Asks the service over https in a process of its own, since Node reads its variables at its start. */
async function getInProcess(env: NodeJS.ProcessEnv): Promise<object> {
  const source = `
    import { exchange } from './src/screening-service/exchange.ts';
    import { MACHINE } from './src/screening-service/index.ts';
    const url = 'https://service.example/status';
    const reply = await exchange(MACHINE, { operation: 'status-by-url', url, timeoutMs: 10_000 })
      .catch(({ reason }) => ({ reason }));
    console.log(JSON.stringify(reply));
    process.exit();`;
  const args = ['--import', './bin/typescript.mjs', '--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  return JSON.parse(stdout);
}

/** A certificate of our own for `service.example`. */
async function aCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-proxy-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const name = ['-subj', '/CN=service.example', '-addext', 'subjectAltName=DNS:service.example'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await promisify(execFile)('openssl', ['req', ...kind, ...name, '-keyout', keyFile, '-out', certFile]);
  return { key: await readFile(keyFile), cert: await readFile(certFile), certFile };
}

it('https_proxy may be in lower case, and leads to a service whose certificate NODE_EXTRA_CA_CERTS names', async () => {
  const { key, cert, certFile } = await aCertificate();
  const secure = https.createServer({ key, cert }, (request, response) =>
    response.end(`over https ${request.url}`),
  );
  onTestFinished(() => void secure.close());
  leadsTo = (await startServer(secure)).port;
  const { PATH, HTTPS_PROXY: https_proxy } = process.env;
  expect(await getInProcess({ PATH, https_proxy, NODE_EXTRA_CA_CERTS: certFile })).toEqual({
    status: 200,
    text: 'over https /status',
  });
  expect(await getInProcess({ PATH, https_proxy })).toEqual({ reason: 'tls' });
  expect(asked).toEqual(Array(2).fill('CONNECT service.example:443'));
  expect(await getInProcess({ PATH, https_proxy, no_proxy: 'service.example' })).toEqual({ reason: 'dns' });
  expect(asked).toHaveLength(2);
});

it('an event goes to the proxy', async () => {
  const send = createEventSender('http://shop.example/events', [`whsec_${'a'.repeat(32)}`]);
  const event = anOrderEvent();
  await send(event, 2_000, event.occurredAt);
  expect(asked).toEqual(['POST http://shop.example/events']);
});

it('neither this machine nor what NO_PROXY names is reached through the proxy', async () => {
  await get(`${service.url}/status`);
  await expect(get('https://not-proxied.example/status')).rejects.toMatchObject({ reason: 'dns' });
  expect(asked).toEqual([]);
});
