import { expect, it } from 'vitest';
import { checkSharedKeys } from '../../src/cli/doctor/check-service.ts';
import { anIntegration } from '../fixtures/integrations.ts';

const integration = (name: string, key: string | undefined) => anIntegration({ name, apiKey: () => key });

it('doctor warns of two integrations with one key, without the key', () => {
  const found = checkSharedKeys([
    integration('a', 'one'),
    integration('b', 'two'),
    integration('c', 'one'),
    integration('d', undefined),
    integration('e', undefined),
  ]);
  expect(found).toMatchObject([{ check: 'shared-key:c', status: 'warning' }]);
  expect(found[0]?.what).toContain('c and a have one key');
  expect(JSON.stringify(found)).not.toContain('"one"');
});
