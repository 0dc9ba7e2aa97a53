import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig, type Role } from '../../src/config/index.ts';
import { faultsIn, least } from './support.ts';

const A_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const ANOTHER = `whsec_${Buffer.alloc(64, 2).toString('base64')}`;
const RECEIVER = { ...least, EVENTS_URL: 'https://shop.example/events' };

const folder = mkdtempSync(join(tmpdir(), 'order-screening-events-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the secrets of events', () => {
  const secretsOf = (env: NodeJS.ProcessEnv) => loadConfig({ ...RECEIVER, ...env }).events.common?.secrets;

  it('are a list', () => {
    expect(secretsOf({ EVENTS_SECRETS: `${A_SECRET}, ${ANOTHER}` })).toEqual([A_SECRET, ANOTHER]);
  });

  it.each([
    [{}, 'EVENTS_SECRETS'],
    [{ EVENTS_SECRETS: `${A_SECRET},whsec_${Buffer.alloc(23).toString('base64')}` }, 'EVENTS_SECRETS'],
    [{ EVENTS_SECRETS: Buffer.alloc(24).toString('base64') }, 'EVENTS_SECRETS'],
    [{ EVENTS_SECRETS: ',' }, 'EVENTS_SECRETS'],
    [{ EVENTS_SECRETS: 'whsec_short' }, 'EVENTS_SECRETS'],
  ])('are refused: %o', (env, variable) => {
    expect(Object.keys(faultsIn(() => loadConfig({ ...RECEIVER, ...env })))).toEqual([variable]);
  });
});

describe('the receiver of an integration', () => {
  const SHOP_URL = 'https://shop.example/events';
  const PHONE_URL = 'https://phone.example/events';
  const addresses = {
    baseUrl: 'https://test.screening.example',
    portalBaseUrl: 'https://portal.example/api/v1/transaction-update',
  };

  /** The settings with an integration `phone` that says this of its events, beside one that says nothing. */
  function settingsWith(phone: object, env: NodeJS.ProcessEnv, role?: Role) {
    const file = join(folder, 'policy.json');
    const integrations = { default: addresses, phone: { ...addresses, ...phone } };
    writeFileSync(file, JSON.stringify({ integrations }));
    return loadConfig({ ...least, SCREENING_CONFIG: file, ...env }, role);
  }

  const common = { EVENTS_URL: SHOP_URL, EVENTS_SECRETS: A_SECRET };

  it('is the common one unless it names another', () => {
    expect(settingsWith({}, common).events).toEqual({
      own: new Map(),
      common: { url: SHOP_URL, secrets: [A_SECRET] },
    });
  });

  it.each([
    [{ eventsUrl: PHONE_URL, eventsSecretEnv: 'PHONE' }, common, PHONE_URL, [ANOTHER, A_SECRET]],
    [{ eventsUrl: PHONE_URL, eventsSecretEnv: 'PHONE' }, {}, PHONE_URL, [ANOTHER, A_SECRET]],
    [{ eventsUrl: PHONE_URL }, common, PHONE_URL, [A_SECRET]],
    [{ eventsUrl: PHONE_URL }, { EVENTS_SECRETS: A_SECRET }, PHONE_URL, [A_SECRET]],
    [{ eventsSecretEnv: 'PHONE' }, common, SHOP_URL, [ANOTHER, A_SECRET]],
  ])('is what it names, and else as the common one: %o with %o', (phone, env, url, secrets) => {
    const { own } = settingsWith(phone, { PHONE: `${ANOTHER}, ${A_SECRET}`, ...env }).events;
    expect([...own]).toEqual([['phone', { url, secrets }]]);
  });

  it.each([
    [
      { eventsUrl: PHONE_URL },
      {},
      'is required with eventsUrl unless EVENTS_SECRETS is set: events are signed',
    ],
    [{ eventsSecretEnv: 'PHONE' }, common, 'names a variable that is not set'],
    [
      { eventsSecretEnv: 'PHONE' },
      { ...common, PHONE: `${A_SECRET},no-secret` },
      'names a variable that must be a list of secrets, each "whsec_" and 24 to 64 random bytes in base64',
    ],
  ])('is refused: %o with %o', (phone, env, message) => {
    const path = 'integrations.phone.eventsSecretEnv';
    expect(faultsIn(() => settingsWith(phone, env))).toEqual({ [path]: message });
    // The API sends no events, and needs no secret of theirs.
    expect(faultsIn(() => settingsWith(phone, env, 'api'))).toEqual({});
  });
});
