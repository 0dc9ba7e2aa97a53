/** Checks Temporal's set-up, the workers' polling, and orders that can't continue. */
import { Client, isGrpcServiceError } from '@temporalio/client';
import { haltedOrders, lostOrders, lostQuery } from '../../activities/index.ts';
import { countPollers, readSweep } from '../../client/health.ts';
import { countWorkflows } from '../../client/lists/visibility.ts';
import { grpcCode, isUnanswered, within } from '../../client/temporal-errors.ts';
import { createDataConverter } from '../../codec/index.ts';
import type { Config } from '../../config/index.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import {
  BACKGROUND_TASK_QUEUE,
  orderOfWorkflowId,
  POLLS_TASK_QUEUE,
  READS_TASK_QUEUE,
  TASK_QUEUE,
} from '../../contract/ids.ts';
import { PORTAL_ACTION } from '../../contract/messages.ts';
import { HELD_REASONS, LOST_STATUSES } from '../../contract/sweep.ts';
import { openQuery, orderAttributes } from '../../order/view/search-attributes.ts';
import { missingSearchAttributes, RETENTION_DAYS } from '../../platform/namespace.ts';
import { connectTemporal, payloadKeysOf } from '../connect.ts';
import { CHECK_WITHIN_MS, counted, type Finding, failed, find, ok, skipped, warning } from './finding.ts';

const MAX_LISTED = 1_000;
const NAMED = 5;
/** For one call per listed order. */
const DESCRIBED_WITHIN_MS = 30_000;

const QUEUES = [
  { name: TASK_QUEUE, type: 'workflow', effect: 'no order is screened or continues' },
  {
    name: BACKGROUND_TASK_QUEUE,
    type: 'activity',
    effect: 'no portal action, gateway result or event is sent',
  },
  { name: READS_TASK_QUEUE, type: 'activity', effect: 'no webhook causes a read' },
  {
    name: POLLS_TASK_QUEUE,
    type: 'activity',
    effect: 'no review is polled, and no pass is read before its window closes',
  },
] as const;

export async function checkTemporal(config: Config): Promise<Finding[]> {
  const { connection, namespace } = config.temporal;
  try {
    // Without keys only the reads that get no answer can't be counted.
    const dataConverter = createDataConverter(await payloadKeysOf(config).catch(() => []));
    const client = new Client({
      connection: await connectTemporal(config.temporal),
      namespace,
      dataConverter,
    });
    const soon = Date.now() + CHECK_WITHIN_MS;
    const version = await within(client, soon, () => checkVersion(client, connection.address));
    return [version, ...(await checkInside(client, config))];
  } catch (error) {
    return [unreachable(error, connection.address), notLookedAt('Temporal')];
  }
}

async function checkInside(client: Client, config: Config): Promise<Finding[]> {
  /** @param asked what servers may refuse: the check is skipped then */
  const look = (
    check: string,
    asked: string | undefined,
    looks: () => Promise<Finding | Finding[]>,
    withinMs = CHECK_WITHIN_MS,
  ) =>
    find(
      check,
      () => within(client, Date.now() + withinMs, looks),
      (error) => notAsked(error, asked),
    );
  const hasError = (findings: Finding[]) => findings.some(({ status }) => status === 'error');
  const namespace = await look('namespace', undefined, () => checkNamespace(client));
  if (hasError(namespace)) return [...namespace, notLookedAt('the namespace')];
  const attributes = await look('search-attributes', 'list its search attributes', () =>
    checkSearchAttributes(client),
  );
  const without = skipped('orders cannot be counted without the search attributes');
  const ofOrders: typeof look = hasError(attributes) ? (check) => find(check, () => without) : look;
  const others = await Promise.all([
    ...QUEUES.map((queue) =>
      look(`task-queue:${queue.name}`, 'list its pollers', () => checkTaskQueue(client, queue)),
    ),
    ofOrders('polls', 'count orders', () => checkPolls(client, config), DESCRIBED_WITHIN_MS),
    ofOrders('sweep', 'describe the sweep', () => checkSweep(client)),
    ofOrders('portal-actions', 'count portal actions', () => checkPortalActions(client)),
    ofOrders('lost-orders', 'list orders', () => checkLostOrders(client), DESCRIBED_WITHIN_MS),
  ]);
  return [...namespace, ...attributes, ...others.flat()];
}

const REFUSALS: readonly number[] = [grpcCode.unimplemented, grpcCode.permissionDenied];
const UNANSWERED: readonly number[] = [grpcCode.unavailable, grpcCode.resourceExhausted];

/**
 * Returns the finding for an error of Temporal: skipped if the server refuses the call, an error if it did not answer.
 * @param asked what servers may refuse
 */
export function notAsked(error: unknown, asked: string | undefined): Finding | undefined {
  const cause = error instanceof OrderScreeningError ? error.cause : error;
  const code = isGrpcServiceError(cause) ? cause.code : -1;
  if (asked !== undefined && REFUSALS.includes(code)) return skipped(`the server does not ${asked}`);
  if (!isUnanswered(cause) && !UNANSWERED.includes(code)) return undefined;
  return failed('Temporal did not answer in time: not checked', 'Run doctor again once Temporal answers');
}

function notLookedAt(cause: string): Finding {
  const rest = 'search attributes, task queues, polls, sweep, open orders';
  return { check: 'temporal', ...skipped(`not checked without ${cause}: ${rest}`) };
}

function unreachable(error: unknown, address: string): Finding {
  const refusals: number[] = [grpcCode.permissionDenied, grpcCode.unauthenticated];
  if (isGrpcServiceError(error) && refusals.includes(error.code)) {
    return failed(
      `Temporal at ${address} refuses this client`,
      'Check the credentials: TEMPORAL_API_KEY, or TEMPORAL_TLS_* and the profile',
    );
  }
  return failed(
    `Temporal does not answer at ${address}`,
    'Start it (npm start, npm run temporal), or correct TEMPORAL_ADDRESS and TEMPORAL_TLS_*',
  );
}

async function checkVersion(client: Client, address: string): Promise<Finding> {
  const { serverVersion } = await client.workflowService.getSystemInfo({});
  // A version that can't be parsed, such as Temporal Cloud's, counts as new.
  const [, major = 9, minor = 9, patch = 9] = /^(\d+)\.(\d+)\.(\d+)/.exec(serverVersion)?.map(Number) ?? [];
  if (major === 1 && (minor < 29 || (minor === 29 && patch < 2))) {
    return warning(
      `the server at ${address} is ${serverVersion}; servers up to 1.29.1 may have CVE-2025-14986, in the call that screens an order`,
      'Upgrade the Temporal server to 1.29.2 or newer',
    );
  }
  return ok(`the server at ${address} answers, version ${serverVersion}`);
}

async function checkNamespace({ options: { namespace }, workflowService }: Client): Promise<Finding> {
  try {
    const { config } = await workflowService.describeNamespace({ namespace });
    const days = (config?.workflowExecutionRetentionTtl?.seconds?.toNumber() ?? 0) / 86_400;
    if (days === 0 || days >= RETENTION_DAYS) return ok(`the namespace ${namespace} exists`);
    return warning(
      `the namespace ${namespace} deletes closed orders after ${Math.floor(days)} days; their ids then count as new`,
      `Run npm run setup:temporal, which sets ${RETENTION_DAYS} days; on Temporal Cloud set the retention there`,
    );
  } catch (error) {
    const missing = isGrpcServiceError(error) && error.code === grpcCode.notFound;
    return failed(
      `the namespace ${namespace} ${missing ? 'does not exist' : "can't be described"}`,
      'Correct TEMPORAL_NAMESPACE, or create the namespace and run npm run setup:temporal',
    );
  }
}

async function checkSearchAttributes({ options: { namespace }, connection }: Client): Promise<Finding> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return ok('all search attributes are registered');
  return failed(
    `the namespace ${namespace} lacks ${missing.join(', ')}, or has them with a different type: workers do not start`,
    'Run npm run setup:temporal with the same TEMPORAL_* settings',
  );
}

async function checkTaskQueue(client: Client, queue: (typeof QUEUES)[number]): Promise<Finding> {
  const alive = await countPollers(client, queue);
  if (alive > 0) return ok(`polled by ${counted(alive, 'worker')}`);
  return failed(
    `no worker polls ${queue.name}: ${queue.effect}`,
    'Start a worker (npm run worker) with the same TEMPORAL_* settings, and read its log if it ends. Workers of a build count once npm run setup:temporal has made it current',
  );
}

/**
 * Warns if there are more open reviews than the shared poll rate can poll in time, and of orders whose workflow task keeps failing, or
 * whose polls and other activities don't run.
 */
export async function checkPolls(
  client: Client,
  { integrations, maxRps }: Pick<Config, 'integrations' | 'maxRps'>,
): Promise<Finding[]> {
  if (integrations.size === 0) return [skipped('no integration can be read')];
  const reviews = await countWorkflows(client, `${openQuery()} AND ${orderAttributes.phase.name} = 'review'`);
  const roundSeconds = reviews / maxRps;
  const pauseSeconds = Math.max(...[...integrations.values()].map(({ poll }) => poll.maxMs)) / 1_000;
  const tooMany = warning(
    `${reviews} open reviews at ${maxRps} polls per second take ${Math.ceil(roundSeconds)} s per round, longer than the longest poll pause of ${pauseSeconds} s`,
    'Raise SCREENING_MAX_RPS on every worker, as far as the screening service allows, or lengthen poll.max',
  );
  const halted = await haltedOrders(client, MAX_LISTED);
  const stuck = halted.filter((order) => order.stuck);
  const ofStuck = failed(
    `the workflow task of ${counted(stuck.length, 'open order')} keeps failing, such as ${firstIds(stuck)}`,
    'After a rollout back it out. Otherwise open one in the Temporal UI: the error is at its last event; then run order-screening repair',
  );
  const held = halted.filter((order) => order.held);
  const shares = sharesOf(held, HELD_REASONS, (order) => order.held?.reason);
  const ofHeld = warning(
    `${counted(held.length, 'open order')} held ${shares}: polls or cancels wait`,
    'Unpause or unpin each in the Temporal UI. Late: start workers that poll its task queue, or reset the activity if some do. Unanswered: see the checks of the screening service',
  );
  const findings = [
    ...(roundSeconds > pauseSeconds ? [tooMany] : []),
    ...(stuck.length > 0 ? [{ check: 'stuck-orders', ...ofStuck }] : []),
    ...(held.length > 0 ? [ofHeld] : []),
  ];
  if (findings.length === 0) findings.push(ok(`${counted(reviews, 'open review')}, polled in time`));
  const older = (await countWorkflows(client, openQuery())) - MAX_LISTED;
  const notChecked = `${counted(older, 'older open order')} not checked: see order_screening_stuck_orders and order_screening_held_orders`;
  return older > 0 ? [...findings, { check: 'older-orders', ...skipped(notChecked) }] : findings;
}

/** Warns unless the sweep runs, which finds orders that can't report their own trouble. */
export async function checkSweep(client: Client): Promise<Finding> {
  const { status } = await readSweep({ client });
  if (status === 'running') return ok('the sweep runs');
  if (status === 'failing') {
    return warning(
      'the sweep fails',
      "Read the workers' logs, and the workflow order-screening-sweep in the Temporal UI",
    );
  }
  return warning(
    "the sweep doesn't run: stuck and lost orders are not reported",
    'Run npm run setup:temporal with the same TEMPORAL_* settings',
  );
}

/** Warns of portal actions on closed orders, which neither the queue page nor a list of orders shows. */
export async function checkPortalActions(client: Client): Promise<Finding> {
  const waiting = `${openQuery(PORTAL_ACTION)} AND ${orderAttributes.needsAttention.name} = true`;
  const number = await countWorkflows(client, waiting);
  if (number === 0) return ok('no portal action on a closed order waits for the right key');
  return warning(
    `${counted(number, 'portal action')} on closed orders or bare transactions can't be sent: the screening service refused the key (403)`,
    `Set the right key and roll the workers. The actions then continue; each ends a day after its request, a cancel with its window. The query ${waiting} lists them`,
  );
}

/** Counts orders that ended too early while they could still be canceled, by status, and names the first. */
export async function checkLostOrders(client: Client): Promise<Finding> {
  const now = Date.now();
  const lost = await lostOrders(client, MAX_LISTED, now);
  if (lost.length === 0) return ok('no order ended too early inside its cancel window');
  const shares = sharesOf(lost, LOST_STATUSES, ({ status }) => status);
  return failed(
    `${counted(lost.length, 'order')} ended too early inside the cancel window ${shares}: nothing polls or cancels them`,
    `Recover each as docs/operations.md says under "Recover an order". The query ${lostQuery(now)} lists them`,
  );
}

/** Returns how many orders have each label, and the ids of the first: `(2 paused, 1 late), such as 1001, 1002`. */
function sharesOf<Order extends { workflowId: string }, Label extends string>(
  orders: readonly Order[],
  labels: readonly Label[],
  labelOf: (order: Order) => Label | undefined,
): string {
  const numbers = labels.map((label) => [orders.filter((one) => labelOf(one) === label).length, label]);
  const shown = numbers.filter(([number]) => number !== 0).map((pair) => pair.join(' '));
  return `(${shown.join(', ')}), such as ${firstIds(orders)}`;
}

function firstIds(orders: readonly { workflowId: string }[]): string {
  const first = orders.slice(0, NAMED);
  return first.map(({ workflowId }) => orderOfWorkflowId(workflowId)?.orderId ?? workflowId).join(', ');
}
