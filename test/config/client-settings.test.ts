import { describe, expect, it } from 'vitest';
import { loadClientSettings } from '../../src/config/index.ts';
import { least } from './support.ts';

describe('settings of a client', () => {
  it('need no key of the service, and no setting of a server', () => {
    const { SCREENING_API_KEY: _none, ...others } = least;
    const settings = loadClientSettings({ ...others, API_HOST: '0.0.0.0', EVENTS_URL: 'nowhere' });
    expect(settings.findIntegration('default')).toMatchObject({ name: 'default', mode: 'test' });
    expect(settings.temporal.connection.address).toBe('127.0.0.1:7233');
  });

  it('list every fault that they have', () => {
    const load = () =>
      loadClientSettings({ ...least, SCREENING_MODE: 'real', CARD_STASH_URL: 'redis://127.0.0.1' });
    expect(load).toThrow(/SCREENING_MODE: must be[\s\S]*CARD_STASH_KEYS: is required/);
  });
});
