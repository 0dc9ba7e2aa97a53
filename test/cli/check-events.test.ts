import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { checkEvents } from '../../src/cli/doctor/check-http.ts';
import { inspectConfig } from '../../src/config/index.ts';
import { least } from '../config/support.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const ANOTHER = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;

/** A receiver that knows one secret. @returns its address */
async function receiver(secret: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    try {
      new Webhook(secret).verify(body, Object.fromEntries(headers));
      response.writeHead(204).end();
    } catch {
      response.writeHead(401).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

it('looks at the common receiver and at each integration’s own one', async () => {
  const { config } = inspectConfig({ ...least, EVENTS_SECRETS: SECRET, EVENTS_URL: await receiver(SECRET) });
  const own = new Map([
    ['phone', { url: await receiver(ANOTHER), secrets: [SECRET] }],
    ['market', { url: await receiver(ANOTHER), secrets: [SECRET, ANOTHER] }],
  ]);
  const findings = await checkEvents({ ...config, events: { ...config.events, own } });
  expect(findings).toEqual([
    { check: 'events', status: 'ok', what: expect.stringContaining('takes signed events') },
    {
      check: 'events:phone',
      status: 'fault',
      what: expect.stringContaining('refuses the signature (401)'),
      todo: expect.stringContaining('the variable that eventsSecretEnv names'),
    },
    { check: 'events:market', status: 'ok', what: expect.stringContaining('takes signed events') },
  ]);
});

it('says who is told where there is no common receiver', async () => {
  const { config } = inspectConfig(least);
  const words = async (own: [string, { url: string; secrets: string[] }][]) =>
    (await checkEvents({ ...config, events: { own: new Map(own) } }))[0]?.what;
  expect(await words([])).toContain('nobody is told when an order changes');
  const one = { url: await receiver(SECRET), secrets: [SECRET] };
  expect(await words([['phone', one]])).toContain('only integrations with an eventsUrl of their own tell it');
});
