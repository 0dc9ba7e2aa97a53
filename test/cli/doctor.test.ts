/** Checks of the doctor that need no deployment; `test/e2e/doctor.test.ts` has the others. */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { checkEvents, checkSharedKeys } from '../../src/cli/doctor/check-http.ts';
import { checkPortalActions } from '../../src/cli/doctor/check-temporal.ts';
import { checkPlaintext } from '../../src/cli/doctor/doctor-command.ts';
import { find } from '../../src/cli/doctor/finding.ts';
import { inspectConfig } from '../../src/config/index.ts';
import { A_SECRET, ANOTHER, least } from '../config/support.ts';
import { anIntegration } from '../fixtures/integrations.ts';

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
  const { port }: { port?: number } = Object(server.address());
  return `http://127.0.0.1:${port}`;
}

it('a check that fails is an error, and that of a silent server is skipped', async () => {
  const fails = () => Promise.reject(new TypeError('top-secret'));
  expect(await find('x', fails)).toMatchObject([{ status: 'error', what: "can't be checked (TypeError)" }]);
  expect(await find('x', fails, 'silent')).toMatchObject([{ status: 'skipped', what: 'silent' }]);
});

it('looks at the common receiver of events and at each integration’s own one', async () => {
  const env = { ...least, EVENTS_SECRETS: A_SECRET, EVENTS_URL: await receiver(A_SECRET) };
  const { config } = inspectConfig(env);
  const url = await receiver(ANOTHER);
  const own = new Map([
    ['phone', { url, secrets: [A_SECRET] }],
    ['market', { url, secrets: [A_SECRET, ANOTHER] }],
  ]);
  const takes = { status: 'ok', what: expect.stringContaining('takes signed events') };
  const what = expect.stringContaining('refuses the signature (401)');
  const todo = expect.stringContaining('the variable that eventsSecretEnv names');
  expect(await checkEvents({ ...config, events: { ...config.events, own } })).toEqual([
    takes,
    { check: 'events:phone', status: 'error', what, todo },
    { check: 'events:market', ...takes },
  ]);
});

it('finds portal actions on closed orders that wait for the right key, which no list of orders shows', async () => {
  const waiting = "WorkflowType = 'portalAction' AND ExecutionStatus = 'Running' AND NeedsAttention = true";
  expect(await checkPortalActions(async () => 0)).toMatchObject({ status: 'ok' });
  expect(await checkPortalActions(async (query) => (query === waiting ? 1 : 0))).toEqual({
    status: 'warning',
    what: expect.stringMatching(/^1 portal action .*403/),
    todo: expect.stringContaining(waiting),
  });
});

it('keeps saying what may go in plain, and why', () => {
  const allowed = { name: 'redis', reason: 'a mesh encrypts it' } as const;
  const what = expect.stringMatching(/^redis .*a mesh encrypts it$/);
  expect(checkPlaintext({ allowPlaintext: [allowed] })).toMatchObject([{ status: 'warning', what }]);
  expect(checkPlaintext({ allowPlaintext: [] })).toEqual([]);
});

it('warns of two integrations with one key, without the key', () => {
  const keys = Object.entries({ a: 'one', b: 'two', c: 'one', d: undefined, e: undefined });
  const found = checkSharedKeys(keys.map(([name, key]) => anIntegration({ name, apiKey: () => key })));
  const what = expect.stringContaining('c and a have one key');
  expect(found).toMatchObject([{ check: 'shared-key:c', status: 'warning', what }]);
  expect(JSON.stringify(found)).not.toContain('"one"');
});
