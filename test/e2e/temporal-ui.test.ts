/** The queries of docs/temporal-ui.md, asked of a real server. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withEmail } from '../fixtures/transactions.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const page = readFileSync(new URL('../../docs/temporal-ui.md', import.meta.url), 'utf8');
const views = [...page.matchAll(/^\| ([^|`]+) \| `([^`]+)` \|$/gm)].map(
  ([, view = '', query = '']) => [view, query] as const,
);

const server = withTestServer();
const found = async (query: string) => {
  const { workflowService } = server.client;
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace: server.namespace,
    query,
    pageSize: 1_000,
  });
  return executions.map(({ execution }) => execution?.workflowId ?? '');
};

describe('a saved view', () => {
  it('is found in the page, more than one', () => {
    expect(views.length).toBeGreaterThan(10);
  });

  it.each(views)('is a query that the server takes: %s', async (_view, query) => {
    await expect(found(query)).resolves.toBeInstanceOf(Array);
  });

  it.each(["NoSuchAttribute = 'x'", "CancelBy < 'soon'", "ScreeningPhase = 'review' ORDER BY CancelBy"])(
    'would be refused if it were wrong: %s',
    async (query) => {
      await expect(found(query)).rejects.toThrow();
    },
  );
});

describe('over orders', () => {
  const integration = anOrderId();
  const [inReview, passed, declined] = [anOrderId(), anOrderId(), anOrderId()];
  const query = (view: string) => views.find(([name]) => name === view)?.[1] ?? '';
  let all: Deployment;

  beforeAll(async () => {
    all = await deploy(server.address, { [integration]: {} }, { webhooks: false });
    const emails = {
      [inReview]: 'review@example.com',
      [passed]: 'pass@example.com',
      [declined]: 'fail@example.com',
    };
    for (const [orderId, email] of Object.entries(emails)) {
      const path = `/v1/orders/${orderId}/screening?integration=${integration}`;
      const transaction = { ...withEmail(email), amount: '1000.00' };
      expect((await all.call('POST', path, { transaction })).status).toBe(200);
    }
  });
  afterAll(() => all?.stop());

  it.each([
    ['In review', [inReview]],
    ['In review, large', [inReview]],
    ['Declined', [declined]],
    ['Needs a person', []],
    ['No decision to be had', []],
  ])('the view «%s» has those that it should', async (view, orders) => {
    await eventually(async () => {
      const ours = await found(`${query(view)} AND ScreeningIntegration = '${integration}'`);
      expect(ours.sort()).toEqual(orders.map((orderId) => `order:${integration}:${orderId}`).sort());
    });
  });
});
