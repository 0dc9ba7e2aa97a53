/** Checks of the doctor that need no deployment; `test/e2e/cli/doctor.test.ts` has the others. */
import type { Client } from '@temporalio/client';
import { describe, expect, it, vi } from 'vitest';
import { checkApi, checkEvents } from '../../src/cli/doctor/check-http.ts';
import { checkPolls, checkPortalActions, checkSweep, notAsked } from '../../src/cli/doctor/check-temporal.ts';
import { checkPlaintext, checkWebhookSecrets } from '../../src/cli/doctor/doctor-command.ts';
import { type Finding, find, ok, skipped } from '../../src/cli/doctor/finding.ts';
import { DeadlinePassed, toOrderError } from '../../src/client/temporal-errors.ts';
import { inspectConfig } from '../../src/config/index.ts';
import { SWEEP_ID } from '../../src/contract/sweep.ts';
import { openQuery } from '../../src/order/view/search-attributes.ts';
import { aClientOver, grpcError } from '../client/fake-temporal.ts';
import { least } from '../config/support.ts';
import { serve, signedReceiver } from '../support/index.ts';

const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;
const WAITING = "WorkflowType = 'portalAction' AND ExecutionStatus = 'Running' AND NeedsAttention = true";

/** A client of a namespace with these open orders, as the server describes them. */
function aNamespace(orders: Record<string, object>, reviews: number, open = 0): Client {
  const executions = Object.keys(orders).map((workflowId) => ({ execution: { workflowId } }));
  return aClientOver({
    countWorkflowExecutions: async ({ query }: { query: string }) => ({
      count: query === openQuery() ? open : reviews,
    }),
    listWorkflowExecutions: async () => ({ executions, nextPageToken: new Uint8Array() }),
    describeWorkflowExecution: async ({ execution }: { execution: { workflowId: string } }) => {
      const found = orders[execution.workflowId];
      if (found === undefined) throw grpcError(5, 'workflow not found');
      return found;
    },
  });
}

describe('a check', () => {
  const fails = () => Promise.reject(new TypeError('top-secret'));
  const explained = (): Finding => skipped('silent');
  const unexplained = (): undefined => undefined;
  it.each([
    ['is named', () => ok('so'), undefined, [{ check: 'x', status: 'ok', what: 'so' }]],
    ['may be of several', () => [ok('so'), { check: 'y', ...ok('no') }], undefined, [{}, { check: 'y' }]],
    ['that fails is an error', fails, undefined, [{ status: 'error', what: "can't be checked (TypeError)" }]],
    ['whose failure it explains', fails, explained, [{ check: 'x', status: 'skipped', what: 'silent' }]],
    ['whose failure it does not explain', fails, unexplained, [{ check: 'x', status: 'error' }]],
  ] as const)('%s', async (_what, look, explain, findings) => {
    expect(await find('x', look as () => never, explain)).toMatchObject([...findings]);
  });
});

describe('a check of Temporal', () => {
  const late = { status: 'error', what: 'Temporal did not answer in time: not checked' };
  it.each([
    [grpcError(12), { status: 'skipped', what: 'the server does not list orders' }],
    [toOrderError(grpcError(7)), { status: 'skipped' }],
    [new DeadlinePassed('late'), late],
    [toOrderError(new DeadlinePassed('late')), late],
    [grpcError(4), late],
    [toOrderError(grpcError(14)), late],
    [toOrderError(grpcError(8)), late],
    [grpcError(13), undefined],
    [new TypeError('a bug'), undefined],
  ])('that %s ends', (error, finding) => {
    const found = notAsked(error, 'list orders');
    if (finding === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(finding);
  });
});

describe('the doctor', () => {
  it('looks at the common receiver of events and at each integration’s own one', async () => {
    const common = { EVENTS_SECRETS: SECRET, EVENTS_URL: await signedReceiver(SECRET) };
    const { config } = inspectConfig({ ...least, ...common });
    const own = new Map([
      ['phone', { url: await signedReceiver(OTHER_SECRET), secrets: [SECRET] }],
      ['market', { url: await signedReceiver(OTHER_SECRET), secrets: [SECRET, OTHER_SECRET] }],
    ]);
    const takes = { status: 'ok', what: expect.stringContaining('takes signed events') };
    expect(await checkEvents({ ...config, events: { ...config.events, own } })).toEqual([
      takes,
      {
        check: 'events:phone',
        status: 'error',
        what: expect.stringContaining('refuses the signature (401)'),
        todo: expect.stringContaining('the variable that eventsSecretEnv names'),
      },
      { check: 'events:market', ...takes },
    ]);
  });

  it('names the proxy, without its password, where one stands between', async () => {
    vi.stubEnv('HTTPS_PROXY', 'http://user:hunter2@127.0.0.1:9');
    const shop = { EVENTS_SECRETS: SECRET, EVENTS_URL: 'https://shop.example/events' };
    const { config } = inspectConfig({ ...least, ...shop });
    const [verdict] = await checkEvents(config);
    vi.unstubAllEnvs();
    expect(verdict?.what).toBe(
      'the events receiver at https://shop.example through the proxy http://127.0.0.1:9 does not answer',
    );
  });

  it('says who is told where there is no common receiver', async () => {
    const { config } = inspectConfig(least);
    const words = async (own: [string, { url: string; secrets: string[] }][]) =>
      (await checkEvents({ ...config, events: { own: new Map(own) } }))[0]?.what;
    expect(await words([])).toContain('no event is sent when an order changes');
    const one = { url: await signedReceiver(SECRET), secrets: [SECRET] };
    expect(await words([['phone', one]])).toContain('only integrations with their own eventsUrl send events');
  });

  it.each([
    [200, 'ok', 'is ready'],
    [503, 'error', 'does not list its orders (503)'],
    [undefined, 'error', 'does not list its orders (no answer)'],
  ])('calls an API that is up and answers %s to a list: %s', async (status, verdict, what) => {
    const address = await serve((request, response) => {
      if (request.url === '/readyz') response.writeHead(200).end();
      else if (status === undefined) response.destroy();
      else response.writeHead(status).end();
    });
    const found = await checkApi({ list: undefined, file: undefined }, address);
    expect(found).toMatchObject({ status: verdict, what: `the API at ${address} ${what}` });
  });

  it('finds portal actions on closed orders that wait for the right key, which no list of orders shows', async () => {
    expect(await checkPortalActions(aNamespace({}, 0))).toMatchObject({ status: 'ok' });
    expect(await checkPortalActions(aNamespace({}, 1))).toEqual({
      status: 'warning',
      what: expect.stringMatching(/^1 portal action .*403/),
      todo: expect.stringContaining(WAITING),
    });
  });

  it.each([
    ['ok', { pendingActivities: [{ attempt: 1, lastStartedTime: { seconds: 60 } }] }],
    ['ok', { pendingActivities: [] }],
    ['warning', { pendingActivities: [{ attempt: 2 }] }],
    ['warning', { pendingActivities: [], pendingWorkflowTask: { attempt: 2 } }],
    ['warning', { workflowExecutionInfo: { closeTime: { seconds: 60 } } }],
    ['warning', undefined],
  ])('has the verdict %s on a sweep that is described as %j', async (status, described) => {
    const client = aNamespace(described === undefined ? {} : { [SWEEP_ID]: described }, 0);
    expect(await checkSweep(client)).toMatchObject({ status });
  });

  it('counts and names orders that are held or stuck, and never calls these polled in time', async () => {
    const { config } = inspectConfig(least);
    const due = { state: 1, scheduledTime: { seconds: 0 } };
    const paused = { pendingActivities: [{ ...due, paused: true }] };
    const pinned = { workflowExecutionInfo: { versioningInfo: { versioningOverride: { pinned: {} } } } };
    const failing = {
      'order:default:S1': { pendingWorkflowTask: { attempt: 5 } },
      'order:default:A': { pendingWorkflowTask: { attempt: 4 } },
    };
    const held: Record<string, object> = {
      ...{ 'order:default:P1': paused, 'order:default:P2': paused, 'order:default:V1': pinned },
      'order:default:L1': { pendingActivities: [due] },
      ...failing,
    };
    const stuck = {
      ...{ check: 'stuck-orders', status: 'error', todo: expect.stringContaining('repair') },
      what: 'the workflow task of 1 open order keeps failing, such as S1',
    };
    const wanted = {
      status: 'warning',
      what: '4 open orders held (2 paused, 1 pinned, 1 late), such as P1, P2, V1, L1: polls or cancels wait',
      todo: expect.stringContaining('Unpause'),
    };
    expect(await checkPolls(aNamespace({ 'order:default:A': {} }, 1), config)).toEqual([
      { status: 'ok', what: '1 open review, polled in time' },
    ]);
    const older = { check: 'older-orders', status: 'skipped', what: expect.stringContaining('500 older') };
    const inTime = expect.objectContaining({ status: 'ok' });
    expect(await checkPolls(aNamespace({}, 40, 1_500), config)).toEqual([inTime, older]);
    expect(await checkPolls(aNamespace(failing, 1, 1_500), config)).toEqual([stuck, older]);
    expect(await checkPolls(aNamespace(held, 4), config)).toEqual([stuck, wanted]);
    const [tooMany, ...others] = await checkPolls(aNamespace(held, 1e9), config);
    expect([tooMany?.what, others]).toEqual([expect.stringContaining('longer than'), [stuck, wanted]]);
  });

  it('does not call the webhook secret that `npm start` makes well: nobody else knows it', () => {
    const { config } = inspectConfig({ ...least, WEBHOOK_SECRETS: 'a secret of some length' });
    expect(checkWebhookSecrets(config, true)).toMatchObject({ status: 'skipped' });
    expect(checkWebhookSecrets(config, false)).toEqual(ok('1 webhook secret'));
  });

  it('keeps saying what may go in plain, and why', () => {
    const allowPlaintext = [
      { name: 'redis', reason: 'a mesh encrypts it' },
      { name: 'temporal', reason: 'one compose network' },
    ] as const;
    expect(checkPlaintext({ allowPlaintext: [...allowPlaintext] })).toMatchObject([
      { status: 'warning', what: expect.stringMatching(/^redis .*a mesh encrypts it$/) },
      { status: 'warning', what: expect.stringMatching(/^temporal .*one compose network$/) },
    ]);
    expect(checkPlaintext({ allowPlaintext: [] })).toEqual([]);
  });
});
