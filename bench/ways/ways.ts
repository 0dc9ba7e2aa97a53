/** All ways to a decision. */
import type { Target } from '../figures.ts';
import { startFloor } from '../floor/floor.ts';
import { type BenchOrder, bareCreate } from '../orders.ts';
import { type Deployment, type DeploymentOptions, deploy } from '../stack/deployment.ts';
import { requestJson } from '../stack/request-json.ts';
import type { Stack } from '../stack/stack.ts';
import { DECISION_TARGETS } from '../targets.ts';

/** One way to a decision, running. */
export interface Way {
  /** Resolves when the caller has the decision; rejects for any other answer. */
  decide: (order: BenchOrder) => Promise<void>;
  /** The processes that serve it. */
  pids: () => number[];
}

/** One way to get a decision. All are measured alike; each order-screening way is compared with the floor. */
export interface WayKind {
  name: string;
  role: 'service' | 'floor' | 'ours';
  /** Targets of the decision time, by percentile. */
  targets?: Readonly<Record<string, readonly Target[]>>;
  /** Starts the way on a stack, which stops it. */
  open: (stack: Stack) => Promise<Way>;
}

/** The screening service itself, without order-screening and without Temporal. */
const direct: WayKind = {
  name: 'direct call',
  role: 'service',
  open: async ({ sandbox }) => ({
    decide: async (order) =>
      expectPass(await requestJson('POST', `${sandbox.baseUrl}/transaction`, bareCreate(order))),
    pids: () => [],
  }),
};

/** Update-with-Start and one local activity. */
const floor: WayKind = {
  name: 'floor',
  role: 'floor',
  open: (stack) => startFloor(stack, { namespace: 'bench-floor' }),
};

/** An order service in TypeScript with the client library. Payloads are plain, as the floor's are. */
const library: WayKind = {
  name: 'client library',
  role: 'ours',
  targets: DECISION_TARGETS.library,
  open: (stack) => openByLibrary(stack, { namespace: 'bench-library' }),
};

/** The same without an events receiver, which the floor doesn't have either. */
const silent: WayKind = {
  name: 'client library, no events receiver',
  role: 'ours',
  open: (stack) => openByLibrary(stack, { namespace: 'bench-silent', events: false }),
};

/** Any order service, by HTTP; payloads encrypted. */
const api: WayKind = {
  name: 'HTTP API',
  role: 'ours',
  targets: DECISION_TARGETS.api,
  open: (stack) => openByApi(stack, { namespace: 'bench-api', encrypted: true, api: true }),
};

/** An order service with the worker in its own process; payloads plain. */
const fastLibrary: WayKind = {
  name: 'fast path, client library',
  role: 'ours',
  targets: DECISION_TARGETS.fastLibrary,
  open: (stack) =>
    openByApi(stack, { namespace: 'bench-fast-library', together: 'bench/ways/order-service.ts' }),
};

/** `npm run serve`; payloads encrypted. */
const fastApi: WayKind = {
  name: 'fast path, HTTP API',
  role: 'ours',
  targets: DECISION_TARGETS.fastApi,
  open: (stack) =>
    openByApi(stack, { namespace: 'bench-fast-api', together: 'src/serve.ts', encrypted: true }),
};

export const WAYS: readonly WayKind[] = [direct, floor, library, silent, api, fastLibrary, fastApi];
/** The ways with one worker process. */
export const THROUGHPUT_WAYS: readonly WayKind[] = [floor, library, silent, api];

async function openByLibrary(stack: Stack, options: DeploymentOptions): Promise<Way> {
  const deployment = await deploy(stack, options);
  const decide = async (order: BenchOrder) => expectPass(await deployment.orders.screen({ ...order }));
  return { ...deployment, decide };
}

async function openByApi(stack: Stack, options: DeploymentOptions): Promise<Way> {
  const deployment = await deploy(stack, options);
  return { ...deployment, decide: decideByApi(deployment) };
}

/** @returns the call of an order service that uses HTTP */
export function decideByApi({ api }: Deployment): (order: BenchOrder) => Promise<void> {
  return async ({ orderId, transaction }) => {
    const url = `${api?.url ?? ''}/v1/orders/${orderId}/screening`;
    expectPass(await requestJson('POST', url, { transaction }));
  };
}

/** @throws Error unless the answer is the sandbox's decision */
function expectPass(answer: unknown): void {
  const { decision, reason } = Object(answer);
  if (decision !== 'pass') throw new Error(`the decision was ${decision}${reason ? ` (${reason})` : ''}`);
}
