import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';

it('the example policy is valid', () => {
  const env = {
    SCREENING_CONFIG: 'examples/policy.json',
    SCREENING_API_KEY: 'a',
    SCREENING_API_KEY_PHONE: 'b',
  };
  expect([...loadConfig(env, 'worker').integrations.keys()]).toEqual(['default', 'phone']);
});
