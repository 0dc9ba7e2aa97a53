/** From one release to the next and back: orders that one release began go on, and end, with the other. */
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime, type WorkflowBundleOption } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { orderWorkflowId, portalActionWorkflowId } from '../../src/orders/ids.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, spawnProcess } from '../support/index.ts';
import { type LastRelease, lastRelease } from '../support/last-release.ts';
import { everyHistory, type OneHistory, replay } from '../support/replays.ts';
import { ago, screenedByPlugin } from './plugin.ts';
import { anOrderId, type Build, type Deployment, deploy, type OrderReply } from './support.ts';

const NAMESPACE = 'releases';
/** What had no answer is tried again after pauses that grow. */
const PATIENTLY = { timeoutMs: 150_000, intervalMs: 250 };
/** Longer than one release takes to give way to the other. */
const SHORT_WINDOW = '20s';

/** A kind of order: what comes before the other release takes it over, and what comes after. */
interface Kind {
  integration?: string;
  /** What is over before the service and the receiver fail anything. */
  before?: (orderId: string, integration: string) => Promise<unknown>;
  begin: (orderId: string, integration: string) => Promise<unknown>;
  goOn?: (orderId: string, integration: string) => Promise<unknown>;
  /** It ends by itself; the others are canceled in the end. */
  ends?: true;
}

type Name = 'last' | 'next';

let temporal: EmbeddedTemporal;
let connection: Connection;
let client: Client;
let last: LastRelease;
let codeOfLast: WorkflowBundleOption;
let all: Deployment;
let builds: Record<Name, Build>;
/** The portal actions on closed orders, by the order. */
const closed = new Map<string, string>();
/** One that both releases have in turn. */
const there = anOrderId();

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  [temporal, last] = await Promise.all([startEmbeddedTemporal({ port: 0 }), lastRelease()]);
  connection = await Connection.connect({ address: temporal.address });
  client = new Client({ connection, namespace: NAMESPACE });
  codeOfLast = await workflowBundle({ workflowsPath: `${last.folder}/src/workflows/index.ts` });
  builds = { last: { cwd: last.folder, env: environmentOf('last') }, next: { env: environmentOf('next') } };
  await setUp({ ...builds.last, env: { TEMPORAL_NAMESPACE: NAMESPACE } });
  const slowPolls = { poll: { first: '10m', factor: 1, max: '10m' } };
  const integrations = {
    // The sandbox sends its webhooks for this one only.
    default: slowPolls,
    hurried: { ...slowPolls, checkoutBudget: '2s' },
    polled: { poll: { first: '500ms', factor: 1, max: '500ms' } },
    short: { ...slowPolls, cancelWindow: SHORT_WINDOW },
    after: { ...slowPolls, workflow: 'post-acceptance' },
  };
  all = await deploy(temporal.address, integrations, builds.last);
  await setUp(builds.last);
}, 300_000);
afterAll(async () => {
  await all?.stop();
  await connection?.close();
  await temporal?.stop();
  await last?.remove();
}, 60_000);

function environmentOf(build: string): NodeJS.ProcessEnv {
  return {
    TEMPORAL_NAMESPACE: NAMESPACE,
    WORKER_DEPLOYMENT_NAME: 'order-screening',
    WORKER_BUILD_ID: build,
  };
}

/** `npm run setup:temporal` of a build. */
async function setUp({ cwd, env }: Build): Promise<void> {
  const script = await spawnProcess('src/temporal/setup-temporal.ts', {
    ...(cwd !== undefined && { cwd }),
    env: { TEMPORAL_ADDRESS: temporal.address, ...env },
  });
  expect([await script.ended, script.output()]).toEqual([0, expect.stringContaining('is set up for orders')]);
}

const screen = (orderId: string, integration: string, who: string, attempt = 1) =>
  all.call('POST', `/v1/orders/${orderId}/screening`, {
    integration,
    attempt,
    transaction: withEmail(`${who}@example.com`),
  });
const asks = (orderId: string, integration: string, what: string, body: object = {}) =>
  all.call('POST', `/v1/orders/${orderId}/${what}?integration=${integration}`, body);
const decide = (invoice: string, decision: 'pass' | 'fraudulent') =>
  all.sandbox.control.decide(invoice, decision);
const requests = (invoice: string, operation: 'create-transaction' | 'cancel-transaction' | 'report-fraud') =>
  all.sandbox.control.ledger({ operation, invoice });
const done = (...of: Parameters<typeof requests>) => requests(...of).filter(({ committed }) => committed);
const until = (orderId: string, integration: string, wanted: OrderReply) =>
  eventually(async () => {
    const { body } = await all.call('GET', `/v1/orders/${orderId}?integration=${integration}`);
    expect(body).toMatchObject(wanted);
  }, PATIENTLY);
const completed = (handle: WorkflowHandle) =>
  eventually(async () => expect((await handle.describe()).status.name).toBe('COMPLETED'), PATIENTLY);
/** Asks until it is answered so: what is asked twice is done once. */
const answered = (ask: () => Promise<{ status: number; body: unknown }>, status: number, body: object = {}) =>
  eventually(async () => expect(await ask()).toMatchObject({ status, body }), PATIENTLY);

const KINDS: Record<string, Kind> = {
  'a review that a webhook resolves': {
    begin: (id, integration) => answered(() => screen(id, integration, 'review'), 200, { phase: 'review' }),
    goOn: async (id, integration) => {
      decide(id, 'pass');
      await until(id, integration, { phase: 'decided', lastRead: { source: 'webhook' } });
    },
  },
  'a review that is polled, and fails': {
    integration: 'polled',
    begin: (id, integration) => answered(() => screen(id, integration, 'review'), 200, { phase: 'review' }),
    goOn: async (id) => decide(id, 'fraudulent'),
    ends: true,
  },
  'an order in its cancel window': {
    begin: (id, integration) => answered(() => screen(id, integration, 'pass'), 200, { action: 'proceed' }),
    goOn: (id, integration) => answered(() => asks(id, integration, 'report-fraud'), 200, { status: 'done' }),
  },
  'a declined order that gets another attempt': {
    begin: (id, integration) => answered(() => screen(id, integration, 'fail'), 200, { action: 'decline' }),
    goOn: (id, integration) => answered(() => screen(id, integration, 'pass', 2), 200, { action: 'proceed' }),
  },
  'a second attempt in review': {
    begin: async (id, integration) => {
      await answered(() => screen(id, integration, 'fail'), 200, { action: 'decline' });
      await answered(() => screen(id, integration, 'review', 2), 200, { action: 'hold' });
    },
    goOn: async (id, integration) => {
      decide(`${id}~2`, 'pass');
      await until(id, integration, { decision: 'pass', attempts: [{}, {}] });
    },
  },
  'a checkout that had no answer': {
    integration: 'hurried',
    begin: (id, integration) => answered(() => screen(id, integration, 'pass'), 202, { decision: 'pending' }),
    goOn: async (id, integration) => {
      await until(id, integration, { decision: 'pass', action: 'proceed' });
      await answered(() => screen(id, integration, 'pass'), 200, { decision: 'pass' });
    },
  },
  'a cancel that isn’t through': {
    integration: 'after',
    begin: async (id, integration) => {
      await answered(() => screen(id, integration, 'fraudulent'), 200, { action: 'cancel' });
      await eventually(() => requests(id, 'cancel-transaction').length > 0, PATIENTLY);
    },
    ends: true,
  },
  'a portal action on a closed order': {
    before: async (id, integration) => {
      await answered(() => screen(id, integration, 'pass'), 200, { action: 'proceed' });
      await answered(() => asks(id, integration, 'cancel'), 200, { status: 'done' });
      await completed(client.workflow.getHandle(orderWorkflowId(integration, id)));
    },
    begin: async (id, integration) => {
      const { body } = await all.call('GET', `/v1/orders/${id}?integration=${integration}`);
      const { transactionId } = body.attempts[0].answer;
      closed.set(id, portalActionWorkflowId(integration, 'report-fraud', transactionId));
      await answered(() => asks(id, integration, 'report-fraud'), 202, { status: 'requested' });
    },
    goOn: (id) => eventually(() => expect(done(id, 'report-fraud')).toHaveLength(1), PATIENTLY),
    ends: true,
  },
  'an adopted review': {
    begin: async (id, integration) => {
      const transactionId = await screenedByPlugin(all, id);
      const body = { transactionId, screenedAt: ago(60_000) };
      await answered(() => asks(id, integration, 'adopt', body), 200, { phase: 'review' });
    },
    goOn: async (id, integration) => {
      decide(id, 'pass');
      await until(id, integration, { phase: 'decided', lastRead: { source: 'webhook' } });
    },
  },
  // Begun last, since its window ends by itself.
  'an order whose cancel window ends': {
    integration: 'short',
    begin: (id, integration) => answered(() => screen(id, integration, 'pass'), 200, { action: 'proceed' }),
    ends: true,
  },
};

interface Begun {
  kind: Kind;
  orderId: string;
  integration: string;
}

/** Begins an order of each kind, while the service and the receiver of events fail some of them. */
async function beginAll(): Promise<Begun[]> {
  const begun = Object.values(KINDS).map((kind) => ({
    kind,
    orderId: anOrderId(),
    integration: kind.integration ?? 'default',
  }));
  for (const { kind, orderId, integration } of begun) await kind.before?.(orderId, integration);
  const named = (name: string) => ({ invoice: begun.find(({ kind }) => kind === KINDS[name])?.orderId });
  const fails = { kind: '5xx-before-commit' } as const;
  const unanswered = named('a checkout that had no answer');
  all.sandbox.control.setFaults({
    faults: [
      { operation: 'create-transaction', kind: 'hang-before-commit', match: unanswered },
      { ...fails, operation: 'status-by-invoice', match: unanswered },
      { ...fails, operation: 'cancel-transaction', match: named('a cancel that isn’t through') },
      { ...fails, operation: 'report-fraud', match: named('a portal action on a closed order') },
    ],
  });
  all.refuseEvents(true);
  // One by one, so that each has its answer in time.
  for (const { kind, orderId, integration } of begun) await kind.begin(orderId, integration);
  return begun;
}

/** What goes on for an order: a workflow of its own for an action on a closed one. */
const handleOf = ({ orderId, integration }: Begun) =>
  client.workflow.getHandle(closed.get(orderId) ?? orderWorkflowId(integration, orderId));

/** The build that did the newest workflow task. */
async function buildOf(order: Begun): Promise<string | null | undefined> {
  const { raw } = await handleOf(order).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

/** Begins an order of each kind with the current build, has the other one take over, and ends them with that of `endWith`. */
async function handOver(from: Name, to: Name, endWith = to): Promise<void> {
  let begun: Begun[] = [];
  await all.rollTo(builds[to], async () => {
    begun = await beginAll();
    for (const order of begun) expect(await buildOf(order)).toBe(from);
    await setUp(builds[to]);
  });
  if (endWith !== to) await all.rollTo(builds[endWith], () => setUp(builds[endWith]));
  all.sandbox.control.clearFaults();
  all.refuseEvents(false);
  await Promise.all(begun.map((order) => endOf(order)));
  for (const order of begun) {
    expect(await buildOf(order)).toBe(endWith);
    const events = all.events.filter(({ orderId }) => orderId === order.orderId);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).toBe('order.closed');
    expect(done(order.orderId, 'cancel-transaction').length).toBeLessThanOrEqual(1);
  }
  expect(await faults()).toEqual([]);
}

async function endOf(order: Begun): Promise<void> {
  const { kind, orderId, integration } = order;
  await kind.goOn?.(orderId, integration);
  if (!kind.ends) await answered(() => asks(orderId, integration, 'cancel'), 200, { status: 'done' });
  await completed(handleOf(order));
}

/** An order that has passed a patch stands still over code that doesn't know it, with failing tasks, until the code that does is current again. */
const goesBack = () => last.newPatches.length === 0;

/** What both releases find wrong in the histories that there are. */
async function faults(): Promise<string[]> {
  const histories: OneHistory[] = [];
  for await (const one of everyHistory(client)) histories.push(one);
  async function* again(): AsyncIterable<OneHistory> {
    yield* histories;
  }
  if (!goesBack()) return [...(await replay(again())).faults].map((fault) => fault.join(': '));
  const failed = histories.flatMap(({ workflowId, history }) =>
    (history.events ?? []).flatMap(({ workflowTaskFailedEventAttributes: task }) =>
      task ? [`${workflowId}: ${task.failure?.message}`] : [],
    ),
  );
  const found = [await replay(again()), await replay(again(), { code: codeOfLast })];
  return [...failed, ...found.flatMap((one) => [...one.faults].map((fault) => fault.join(': ')))];
}

it('orders that the last release began go on with this one, and end', async () => {
  await answered(() => screen(there, 'default', 'review'), 200, { phase: 'review' });
  await handOver('last', 'next');
  await answered(() => asks(there, 'default', 'recheck'), 202);
}, 400_000);

it('and back: orders that this release began go on with the last one, and end; over a new patch, with this one again', async () => {
  await handOver('next', 'last', goesBack() ? 'last' : 'next');
  decide(there, 'pass');
  await until(there, 'default', { phase: 'decided', lastRead: { source: 'webhook' } });
  expect(await faults()).toEqual([]);
}, 400_000);
