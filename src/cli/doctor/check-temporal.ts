/** Whether Temporal has what orders need, who works on its queues, and by which rules open orders live. */
import { Client, isGrpcServiceError } from '@temporalio/client';
import { grpcCode, within } from '../../client/temporal-errors.ts';
import type { Config } from '../../config/index.ts';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, READS_TASK_QUEUE, TASK_QUEUE } from '../../contract/ids.ts';
import { PORTAL_ACTION, SCREEN_ORDER } from '../../contract/messages.ts';
import { orderAttributes } from '../../orders/describe.ts';
import { missingSearchAttributes, RETENTION_DAYS } from '../../temporal/namespace.ts';
import { connectTemporal } from '../define-command.ts';
import { checkLostOrders } from './check-lost-orders.ts';
import {
  CHECK_WITHIN_MS,
  clockFinding,
  counted,
  type Finding,
  finder,
  pollersOf,
  temporalSkew,
} from './check-service.ts';

/** A worker polls anew each minute at the latest. */
const POLLED_WITHIN_MS = 90_000;

/** Asks Temporal: is it there, is the namespace fit for orders, does a worker work, are the polls in time, can open orders go on? */
export async function checkTemporal(config: Config): Promise<Finding[]> {
  const { temporal } = config;
  try {
    const connection = await connectTemporal(temporal);
    return await checkWith(new Client({ connection, namespace: temporal.namespace }), config);
  } catch (error) {
    return [unreachable(error, temporal.connection.address), rest('Temporal')];
  }
}

async function checkWith(client: Client, config: Config): Promise<Finding[]> {
  const server = await checkVersion(client, config);
  const namespace = await checkNamespace(client);
  if (namespace.status === 'fault') return [server, namespace, rest('the namespace')];
  const attributes = await checkSearchAttributes(client);
  const skewMs = await temporalSkew(client).catch(() => undefined);
  const clock = finder('clock:temporal');
  return [
    server,
    namespace,
    attributes,
    ...(await checkTaskQueues(client, skewMs ?? 0)),
    ...(attributes.status === 'fault'
      ? ['polls', 'portal-actions', 'lost-orders'].map((name) =>
          finder(name).skipped('orders cannot be counted without the search attributes'),
        )
      : [
          await checkPolls(client, config),
          await checkPortalActions((query) => ask(client, () => countOf(client, query))),
          await checkLostOrders(client),
        ]),
    skewMs === undefined
      ? clock.skipped("the server doesn't tell its time")
      : clockFinding(clock, skewMs, 'the Temporal server'),
  ];
}

function rest(cause: string): Finding {
  return finder('temporal').skipped(
    `not looked at, for want of ${cause}: search attributes, task queues, polls, open orders, the server's clock`,
  );
}

function unreachable(error: unknown, address: string): Finding {
  const check = finder('temporal');
  if (isRefusal(error)) {
    return check.fault(
      `Temporal at ${address} refuses this client`,
      'Check the credentials: TEMPORAL_API_KEY, or TEMPORAL_TLS_* and the profile',
    );
  }
  return check.fault(
    `Temporal does not answer at ${address}`,
    'Start it (npm start, npm run temporal), or correct TEMPORAL_ADDRESS and TEMPORAL_TLS_*',
  );
}

async function checkVersion(client: Client, { temporal }: Config): Promise<Finding> {
  const check = finder('temporal');
  const { address } = temporal.connection;
  const { serverVersion } = await ask(client, () => client.workflowService.getSystemInfo({}));
  if (isOld(serverVersion)) {
    return check.warning(
      `the server at ${address} is ${serverVersion}; servers up to 1.29.1 may have CVE-2025-14986, in the call that screens an order`,
      'Upgrade the Temporal server to 1.29.2 or newer',
    );
  }
  return check.ok(`the server at ${address} answers, version ${serverVersion}`);
}

/** A version that can't be read, such as Temporal Cloud's, isn't old. */
function isOld(version: string): boolean {
  const [, major = 9, minor = 9, patch = 9] = /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return major === 1 && (minor < 29 || (minor === 29 && patch < 2));
}

async function checkNamespace(client: Client): Promise<Finding> {
  const check = finder('namespace');
  const { namespace } = client.options;
  try {
    const { config } = await ask(client, () => client.workflowService.describeNamespace({ namespace }));
    const seconds = config?.workflowExecutionRetentionTtl?.seconds?.toNumber() ?? 0;
    const days = seconds / 86_400;
    if (seconds > 0 && days < RETENTION_DAYS) {
      return check.warning(
        `the namespace ${namespace} forgets closed orders after ${Math.floor(days)} days, and then takes their ids as new`,
        `Run npm run setup:temporal, which sets ${RETENTION_DAYS} days; on Temporal Cloud set the retention there`,
      );
    }
    return check.ok(`the namespace ${namespace} exists`);
  } catch (error) {
    const missing = isGrpcServiceError(error) && error.code === grpcCode.notFound;
    return check.fault(
      missing ? `the namespace ${namespace} does not exist` : `the namespace ${namespace} can't be asked`,
      'Correct TEMPORAL_NAMESPACE, or create the namespace and run npm run setup:temporal',
    );
  }
}

async function checkSearchAttributes(client: Client): Promise<Finding> {
  const check = finder('search-attributes');
  const { namespace } = client.options;
  try {
    const missing = await ask(client, () => missingSearchAttributes(client.connection, namespace));
    if (missing.length === 0) return check.ok('all search attributes are registered');
    return check.fault(
      `the namespace ${namespace} lacks ${missing.join(', ')}, or has another type of them: workers do not start`,
      'Run npm run setup:temporal with the same TEMPORAL_* settings',
    );
  } catch {
    return check.skipped('the server does not tell which search attributes it has');
  }
}

/** @param skewMs of the server's clock, by which polls are dated */
async function checkTaskQueues(client: Client, skewMs: number): Promise<Finding[]> {
  const queues = [
    [TASK_QUEUE, 'workflow', 'no order is screened or goes on'],
    [BACKGROUND_TASK_QUEUE, 'activity', 'no portal action, gateway result or event is sent'],
    [READS_TASK_QUEUE, 'activity', 'no webhook causes a read'],
    [POLLS_TASK_QUEUE, 'activity', 'no review is polled'],
  ] as const;
  return Promise.all(
    queues.map(async ([name, type, effect]) => {
      const check = finder(`task-queue:${name}`);
      const pollers = await pollersOf(client, { name }, type, Date.now() + CHECK_WITHIN_MS).catch(
        () => undefined,
      );
      if (pollers === undefined) return check.skipped('the server does not tell who polls it');
      const since = Date.now() + skewMs - POLLED_WITHIN_MS;
      const alive = pollers.filter(({ at }) => at >= since).length;
      if (alive > 0) return check.ok(`polled by ${counted(alive, 'worker')}`);
      return check.fault(
        `no worker polls ${name}: ${effect}`,
        'Start a worker (npm run worker) with the same TEMPORAL_* settings, and read its log if it ends',
      );
    }),
  );
}

/** Polls of all reviews share one rate: too many of them, and each is polled later than its policy says. */
async function checkPolls(client: Client, { integrations, maxRps }: Config): Promise<Finding> {
  const check = finder('polls');
  if (integrations.size === 0) return check.skipped('no integration can be read');
  const query = `WorkflowType = '${SCREEN_ORDER}' AND ExecutionStatus = 'Running' AND ${orderAttributes.phase.name} = 'review'`;
  const reviews = await ask(client, () => countOf(client, query)).catch(() => undefined);
  if (reviews === undefined) return check.skipped('the server does not count orders');
  const roundSeconds = reviews / maxRps;
  const pauseSeconds = Math.max(...[...integrations.values()].map(({ poll }) => poll.maxMs)) / 1_000;
  if (roundSeconds <= pauseSeconds) return check.ok(`${counted(reviews, 'open review')}, polled in time`);
  return check.warning(
    `${reviews} open reviews at ${maxRps} polls a second take ${Math.ceil(roundSeconds)} s a round, longer than the longest poll pause of ${pauseSeconds} s`,
    'Raise SCREENING_MAX_RPS on every worker, as far as the screening service allows, or lengthen poll.max',
  );
}

async function countOf(client: Client, query: string): Promise<number> {
  const { namespace } = client.options;
  const { count } = await client.workflowService.countWorkflowExecutions({ namespace, query });
  return count.toNumber();
}

function ask<T>(client: Client, call: () => Promise<T>): Promise<T> {
  return within(client, Date.now() + CHECK_WITHIN_MS, call);
}

function isRefusal(error: unknown): boolean {
  const refusals: number[] = [grpcCode.permissionDenied, grpcCode.unauthenticated];
  return isGrpcServiceError(error) && refusals.includes(error.code);
}

/** Counts workflows by a visibility query. */
export type Count = (query: string) => Promise<number>;

/** No order speaks for a portal action that runs by itself, so neither the queue page nor a list of orders shows it. */
export async function checkPortalActions(count: Count): Promise<Finding> {
  const check = finder('portal-actions');
  const waiting = `${openOf(PORTAL_ACTION)} AND ${orderAttributes.needsAttention.name} = true`;
  const number = await count(waiting).catch(() => undefined);
  if (number === undefined) return check.skipped('the server does not count portal actions');
  if (number === 0) return check.ok('no portal action on a closed order waits for the right key');
  return check.warning(
    `${counted(number, 'portal action')} on closed orders or bare transactions can't be sent: the service refused the key (403)`,
    `Set the right key and roll the workers: each goes on by itself, and ends a day after it was asked, a cancel with its window. They are listed by the query ${waiting}`,
  );
}

function openOf(workflowType: string): string {
  return `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`;
}
