import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';

it('the example policy is valid, and its guide names every key', () => {
  const env = {
    SCREENING_CONFIG: 'examples/policy.json',
    SCREENING_API_KEY: 'a',
    SCREENING_API_KEY_PHONE: 'b',
  };
  const { integrations } = loadConfig(env, 'worker');
  expect([...integrations.keys()]).toEqual(['default', 'phone']);
  const guide = readFileSync('docs/policy.md', 'utf8');
  const written = new Set(
    guide.match(/^\| (`\w+`(?:, `\w+`)*) \|/gm)?.flatMap((row) => row.match(/\w+/g) ?? []),
  );
  const inMs = [
    'checkoutBudget',
    'screeningDeadline',
    'retryWithin',
    'gatewayResultWithin',
    'reviewLeadTime',
    'reviewLimit',
  ];
  const durations = [...inMs, 'recheckLeadTime', 'cancelWindow'].map((key) => [`${key}Ms`, key]);
  const names = new Map([...durations, ['apiKey', 'apiKeyEnv']] as [string, string][]);
  for (const key of Object.keys(integrations.get('default') ?? {})) {
    if (key !== 'name') expect(written).toContain(names.get(key) ?? key);
  }
});
