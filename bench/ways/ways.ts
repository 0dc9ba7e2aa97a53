/** All ways to a decision. */
import { startFloor } from '../floor/floor.ts';
import type { BenchOrder } from '../orders.ts';
import { bareCreate } from '../service.ts';
import { type Deployment, type DeploymentOptions, deploy } from '../stack/deployment.ts';
import { requestJson } from '../stack/request-json.ts';
import type { Stack } from '../stack/stack.ts';
import { DECISION_TARGETS } from '../targets.ts';
import type { Way, WayKind } from './way.ts';

/** The service itself, without anything of ours or of Temporal's. */
const direct: WayKind = {
  name: 'direct call',
  role: 'service',
  targets: {},
  open: async ({ sandbox }) => ({
    decide: async ({ orderId, transaction }) => {
      const reply = await requestJson(
        'POST',
        `${sandbox.baseUrl}/transaction`,
        bareCreate(orderId, transaction),
      );
      expectPass(reply);
    },
    pids: () => [],
    stop: async () => undefined,
  }),
};

/** Update-with-Start and one local activity. */
const floor: WayKind = {
  name: 'floor',
  role: 'floor',
  targets: {},
  open: async (stack, nodeArgs) => startFloor(stack, { namespace: 'bench-floor', nodeArgs }),
};

/** Start, one regular activity, ask until there is a decision. */
const plain: WayKind = {
  name: 'plain way',
  role: 'plain',
  targets: {},
  open: async (stack, nodeArgs) => {
    const { decidePlainly, pids, stop } = await startFloor(stack, { namespace: 'bench-plain', nodeArgs });
    return { decide: decidePlainly, pids, stop };
  },
};

/** An order service in TypeScript, with the client library; payloads in plain, as the floor's are. */
const library: WayKind = {
  name: 'client library',
  role: 'ours',
  targets: DECISION_TARGETS.library ?? {},
  open: async (stack, nodeArgs) => {
    const deployed = await deploy(stack, { namespace: 'bench-library', nodeArgs });
    return { ...deployed, decide: decideByLibrary(deployed) };
  },
};

/** The same without what an events receiver costs, which the floor doesn't have. */
const silent: WayKind = {
  name: 'client library, nobody wants events',
  role: 'ours',
  targets: {},
  open: async (stack, nodeArgs) => {
    const deployed = await deploy(stack, { namespace: 'bench-silent', events: false, nodeArgs });
    return { ...deployed, decide: decideByLibrary(deployed) };
  },
};

/** Any order service, by HTTP; payloads encrypted. */
const api: WayKind = {
  name: 'HTTP API',
  role: 'ours',
  targets: DECISION_TARGETS.api ?? {},
  open: (stack, nodeArgs) =>
    openByApi(stack, { namespace: 'bench-api', encrypted: true, api: true, nodeArgs }),
};

/** An order service that has the worker in its own process; payloads in plain. */
const fastLibrary: WayKind = {
  name: 'fast path, client library',
  role: 'ours',
  targets: DECISION_TARGETS.fastLibrary ?? {},
  open: (stack, nodeArgs) =>
    openByApi(stack, {
      namespace: 'bench-fast-library',
      together: 'bench/ways/order-service.ts',
      nodeArgs,
    }),
};

/** `npm run serve`; payloads encrypted. */
const fastApi: WayKind = {
  name: 'fast path, HTTP API',
  role: 'ours',
  targets: DECISION_TARGETS.fastApi ?? {},
  open: (stack, nodeArgs) =>
    openByApi(stack, {
      namespace: 'bench-fast-api',
      together: 'src/serve.ts',
      encrypted: true,
      nodeArgs,
    }),
};

async function openByApi(stack: Stack, options: DeploymentOptions): Promise<Way> {
  const deployment = await deploy(stack, options);
  return { decide: decideByApi(deployment), pids: deployment.pids, stop: deployment.stop };
}

export const WAYS: readonly WayKind[] = [direct, floor, plain, library, silent, api, fastLibrary, fastApi];

/** @returns what an order service does that has the client library */
export function decideByLibrary({ orders }: Deployment): (order: BenchOrder) => Promise<void> {
  return async (order) => expectPass(await orders.screen({ ...order }));
}

/** @returns what an order service does that knows only HTTP */
export function decideByApi({ api }: Deployment, integration?: string): (order: BenchOrder) => Promise<void> {
  return async ({ orderId, transaction }) => {
    const url = `${api?.url ?? ''}/v1/orders/${orderId}/screening`;
    const body = { transaction, ...(integration !== undefined && { integration }) };
    expectPass(await requestJson('POST', url, body));
  };
}

/** @throws Error when it isn't the decision that the sandbox made */
export function expectPass(answer: unknown): void {
  const { decision, reason } = Object(answer);
  if (decision !== 'pass') throw new Error(`the decision was ${decision}${reason ? ` (${reason})` : ''}`);
}
