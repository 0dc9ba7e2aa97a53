import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { SWEEP_ID } from '../../src/contract/sweep.ts';
import { METRICS } from '../../src/order/view/metrics.ts';
import { startSweep } from '../../src/platform/namespace.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { readExport, readPromql } from '../support/promql.ts';
import { poison } from './operator.ts';
import { anOrderId, withDeployment } from './support.ts';

const poisonedIds: string[] = [];
const server = withTestServer({ except: (workflowId) => poisonedIds.includes(workflowId) });
const all = withDeployment(server, { default: { poll: { first: '100ms', factor: 1, max: '100ms' } } });
/** Label names by sample, of the worker and the API together. */
let exported: Map<string, Set<string>>;

beforeAll(async () => {
  await liveThroughEverything();
  exported = new Map();
  await eventually(
    async () => {
      const api = await (await fetch(`${all.apiUrl}/metrics`)).text();
      exported = new Map([...readExport(await all.workerMetrics()), ...readExport(api)]);
      expect(unknownIn(expressions())).toEqual([]);
    },
    { timeoutMs: 45_000, intervalMs: 1_000 },
  ).catch(() => undefined);
}, 120_000);

it('every metric and label in the alert rules and the dashboard is exported by a worker or the API', () => {
  expect(unknownIn(expressions())).toEqual([]);
});

it('every metric of ours is shown on the dashboard or alerted on', () => {
  const used = expressions().flatMap((expression) => readPromql(expression).uses.map(({ metric }) => metric));
  const shown = (name: string) => used.some((one) => one.startsWith(name));
  expect(Object.keys(METRICS).filter((name) => !shown(name))).toEqual([]);
});

/** Orders of each kind, so that everything that is counted has happened once. */
async function liveThroughEverything(): Promise<void> {
  const isExported = (sample: string) =>
    eventually(async () => expect(await all.workerMetrics()).toContain(sample), { timeoutMs: 30_000 });
  const passed = anOrderId();
  const transaction = withEmail('pass@example.com');
  const warned = await all.screen(passed, 'pass', { transaction: { ...transaction, giftWrap: true } });
  expect(warned.status).toBe(200);
  expect((await all.screen(anOrderId(), 'pass', { giftWrap: true })).status).toBe(422);
  const reviewed = await all.inReview();
  await server.client.workflow.getHandle(`order:default:${reviewed}`).cancel();
  await all.until(reviewed, (order) => order.attention.length > 0);
  await isExported('order_screening_polls_total{');
  all.sandbox.control.setFaults({ faults: [{ operation: 'status-by-url', kind: '403', times: 1 }] });
  await isExported('order_screening_wrong_key_total{');
  all.sandbox.control.decide(reviewed, 'pass');
  await all.until(reviewed, (order) => order.decision === 'pass');
  expect((await all.call('POST', `/v1/orders/${passed}/cancel`, {})).status).toBe(200);
  const orderId = await all.inReview();
  const poisoned = `order:default:${orderId}`;
  poisonedIds.push(poisoned);
  await poison(server.client, orderId);
  await isExported('task_execution_failed{');
  await server.client.workflow.getHandle(poisoned).terminate('poisoned by the test');
  await server.client.workflow.getHandle(SWEEP_ID).terminate('begun anew by the test');
  await startSweep(server.connection, server.namespace);
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
