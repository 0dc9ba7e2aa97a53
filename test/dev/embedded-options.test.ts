import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { embeddedOptions } from '../../src/dev/local-stack.ts';
import { least } from '../config/support.ts';

test('the embedded server gets the namespace that the worker and the API are told', () => {
  const env = { ...least, TEMPORAL_NAMESPACE: 'shop', TEMPORAL_PORT: '17233', TEMPORAL_UI_PORT: '18233' };
  const config = loadConfig({ ...env, DATA_DIR: 'elsewhere' });

  expect(config.temporal).toMatchObject({ embedded: true, namespace: 'shop' });
  expect(embeddedOptions(config)).toEqual({
    port: 17233,
    uiPort: 18233,
    dataDir: 'elsewhere',
    namespace: 'shop',
  });
});
