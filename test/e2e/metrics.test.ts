import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SWEEP_ID } from '../../src/contract/sweep.ts';
import { startSweep } from '../../src/temporal/namespace.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { readExport, readPromql } from '../support/promql.ts';
import { poison } from './poison.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const poisonedIds: string[] = [];
const server = withTestServer({ except: (workflowId) => poisonedIds.includes(workflowId) });
let all: Deployment;
/** Label names by sample, of the worker and the API together. */
let exported: Map<string, Set<string>>;

beforeAll(async () => {
  all = await deploy(server.address, { default: { poll: { first: '100ms', factor: 1, max: '100ms' } } });
  await liveThroughEverything();
  exported = new Map();
  await eventually(
    async () => {
      const [worker, api] = await Promise.all([
        scrape(all.workerMetricsUrl()),
        scrape(`${all.apiUrl}/metrics`),
      ]);
      exported = new Map([...readExport(worker), ...readExport(api)]);
      expect(unknownIn(expressions())).toEqual([]);
    },
    { timeoutMs: 45_000, intervalMs: 1_000 },
  ).catch(() => undefined);
}, 120_000);
afterAll(() => all?.stop());

it('every metric and label in the alert rules and the dashboard is exported by a worker or the API', () => {
  expect(unknownIn(expressions())).toEqual([]);
});

it('every metric of ours is shown on the dashboard or alerted on', () => {
  const used = expressions().flatMap((expression) => readPromql(expression).uses.map(({ metric }) => metric));
  const ours = [...exported.keys()]
    .filter((name) => name.startsWith('order_screening_'))
    .map((name) => name.replace(/_(bucket|count|sum)$/, ''));

  expect(ours.length).toBeGreaterThan(15);
  expect(ours.filter((name) => !used.some((one) => one.startsWith(name)))).toEqual([]);
});

it('no label holds what names an order or a person', () => {
  const labels = new Set([...exported.values()].flatMap((names) => [...names]));

  for (const label of ['orderId', 'order_id', 'workflowId', 'workflow_id', 'email', 'transactionId']) {
    expect(labels).not.toContain(label);
  }
});

/** Orders of each kind, so that everything that is counted has happened once. */
async function liveThroughEverything(): Promise<void> {
  const screen = async (email: string) => {
    const orderId = anOrderId();
    const { status } = await all.call('POST', `/v1/orders/${orderId}/screening`, {
      transaction: withEmail(email),
    });
    expect(status).toBe(200);
    return orderId;
  };
  const passed = await screen('pass@example.com');
  const reviewed = await screen('review@example.com');
  await server.client.workflow.getHandle(`order:default:${reviewed}`).cancel();
  await all.until(reviewed, (order) => order.attention.length > 0);
  await exports('order_screening_polls_total{');
  all.sandbox.control.decide(reviewed, 'pass');
  await all.until(reviewed, (order) => order.decision === 'pass');
  expect((await all.call('POST', `/v1/orders/${passed}/cancel`, {})).status).toBe(200);
  const poisoned = `order:default:${await screen('review@example.com')}`;
  poisonedIds.push(poisoned);
  await poison(server, poisoned);
  await eventually(async () =>
    expect(await scrape(all.workerMetricsUrl())).toContain('task_execution_failed{'),
  );
  await server.client.workflow.getHandle(poisoned).terminate('poisoned by the test');
  await server.client.workflow.getHandle(SWEEP_ID).terminate('begun anew by the test');
  await startSweep(server.connection, server.namespace);
}

async function exports(sample: string): Promise<void> {
  await eventually(async () => expect(await scrape(all.workerMetricsUrl())).toContain(sample), {
    timeoutMs: 30_000,
  });
}

async function scrape(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Every expression of the alert rules and the dashboard. */
function expressions(): string[] {
  const rules = z
    .object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })
    .parse(parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')));
  const dashboard = z
    .object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })) })
    .parse(JSON.parse(readFileSync('deploy/grafana/dashboards/order-screening.json', 'utf8')));
  return [
    ...rules.groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ];
}

/** What nobody exports. `up` and its labels, and where a sample came from, are Prometheus' own. */
function unknownIn(all: string[]): string[] {
  const own = ['job', 'instance'];
  const anyLabel = new Set([...own, ...[...exported.values()].flatMap((names) => [...names])]);
  return all.flatMap((expression) => {
    const { uses, grouping } = readPromql(expression);
    const unknown = uses.flatMap(({ metric, labels }) => {
      const known = metric === 'up' ? new Set<string>() : exported.get(metric);
      if (known === undefined) return [metric];
      return labels
        .filter((label) => !known.has(label) && !own.includes(label))
        .map((label) => `${metric}{${label}}`);
    });
    return [...unknown, ...grouping.filter((label) => !anyLabel.has(label))];
  });
}
