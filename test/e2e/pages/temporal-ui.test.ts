/** The queries of docs/temporal-ui.md, asked of a real server. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { withEmail } from '../../fixtures/transactions.ts';
import { eventually, withTestServer } from '../../support/index.ts';
import { anOrderId, withDeployment } from '../support.ts';

const page = readFileSync(new URL('../../../docs/temporal-ui.md', import.meta.url), 'utf8');
const views = [...page.matchAll(/^\| ([^|`]+) \| `([^`]+)` \|$/gm)].map(
  ([, view = '', query = '']) => [view, query] as const,
);

const integration = anOrderId();
const server = withTestServer();
const all = withDeployment(server, { [integration]: {} }, { webhooks: false });

const found = async (query: string) => {
  const { workflowService } = server.client;
  const asked = { namespace: server.namespace, query, pageSize: 1_000 };
  const { executions } = await workflowService.listWorkflowExecutions(asked);
  return executions.map(({ execution }) => execution?.workflowId ?? '');
};

beforeAll(async () => {
  for (const decision of ['review', 'pass', 'fail']) {
    const transaction = { ...withEmail(`${decision}@example.com`), amount: '1000.00' };
    expect((await all.screen(decision, '', { integration, transaction })).status).toBe(200);
  }
});

it('the page has more than ten saved views', () => {
  expect(views.length).toBeGreaterThan(10);
});

it.each(views)('a saved view is a query that the server takes: %s', async (_view, query) => {
  await expect(found(query)).resolves.toBeInstanceOf(Array);
});

it.each([
  ['In review', ['review']],
  ['In review, large', ['review']],
  ['Declined', ['fail']],
  ['Needs a person', []],
  ['No decision to be had', []],
])('the view «%s» has the orders that it should', async (view, orders) => {
  const query = views.find(([name]) => name === view)?.[1];
  const wanted = orders.map((orderId) => `order:${integration}:${orderId}`);
  await eventually(async () =>
    expect(await found(`${query} AND ScreeningIntegration = '${integration}'`)).toEqual(wanted),
  );
});
