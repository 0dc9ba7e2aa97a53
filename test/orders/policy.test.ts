import { expect, it } from 'vitest';
import { policyFor } from '../../src/orders/decide.ts';
import { anIntegration } from '../fixtures/integrations.ts';

const facts = { amount: 10, currency: 'USD', itemCategories: [] };

it('what an order records of its integration is settled for this order, and holds no key and no address', () => {
  const integration = anIntegration({
    whenUnavailable: [{ amountBelow: 50, action: 'proceed' }],
    cancelWindowMs: 600_000,
  });

  const policy = policyFor(integration, 'pre-gateway', facts, false);

  expect(policy).toMatchObject({
    workflow: 'pre-gateway',
    whenUnavailable: 'proceed',
    rescreenOnError: { tries: 3, pauseMs: 60_000 },
    cancelWindowMs: 600_000,
    events: false,
  });
  for (const name of ['name', 'mode', 'apiKey', 'apiKeyEnv', 'baseUrl', 'portalBaseUrl', 'skip', 'eventsUrl'])
    expect(policy).not.toHaveProperty(name);
});
