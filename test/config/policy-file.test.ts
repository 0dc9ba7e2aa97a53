import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadConfig, type Role } from '../../src/config/index.ts';
import { HOUR } from '../fixtures/policies.ts';
import { A_SECRET, ANOTHER, faultsIn, least as leastEnv, scratchFile } from './support.ts';

const policyFile = scratchFile('policy.json');
const least = {
  baseUrl: 'https://test.screening.example',
  portalBaseUrl: 'https://portal.example/api/v1/transaction-update',
};
const environment = { ...leastEnv, PAYLOAD_KEYS: `a:${randomBytes(32).toString('base64')}` };

function load(content: unknown, env: NodeJS.ProcessEnv = environment, role?: Role) {
  return loadConfig(Object.assign(env, { SCREENING_CONFIG: policyFile(content) }), role);
}

function integration(settings: object, env?: NodeJS.ProcessEnv) {
  const config = load({ integrations: { default: { ...least, ...settings } } }, env);
  const found = config.findIntegration('default');
  if (found === undefined) throw new Error('no integration');
  return found;
}

const faultsOf = (content: unknown, env?: NodeJS.ProcessEnv) => faultsIn(() => load(content, env));
const faultsOfSettings = (settings: object, env?: NodeJS.ProcessEnv) =>
  faultsOf({ integrations: { default: { ...least, ...settings } } }, env);

describe('an integration of the policy file', () => {
  const skip = [
    { amountBelow: 5, currency: ['EUR'] },
    { currency: ['EUR'], customerId: ['staff'], itemCategory: ['gift'] },
  ];
  const rules = [{ amountBelow: 50, currency: ['EUR'], action: 'hold' }, { action: 'decline' }];
  /** Kept as they are written: the default, and another value. */
  const KEPT: [name: string, byDefault: unknown, written: unknown][] = [
    ['workflow', 'pre-acceptance', 'pre-gateway'],
    ['mode', 'test', 'test'],
    ['dialect', 'definition', 'sample'],
    ['apiKeyHeader', false, true],
    ['enrich', true, false],
    ['whenUnavailable', 'hold', rules],
    ['skip', [], skip],
    ['notCards', [], ['orderId']],
    ['shown', [], ['email', 'items']],
    ['paymentMethods', { noCard: [] }, { noCard: ['SOFINCO'] }],
    ['unknownFields', 'drop', 'refuse'],
    ['declineMessage', expect.stringMatching(/^We could not accept/), 'Sorry.'],
    ['reviewBeforeGateway', 'proceed', 'hold'],
    ['onUnresolvedReview', 'alert', 'cancel'],
    ['cancelAfterReport', 'never', 'always'],
    ['autoCancel', true, false],
    ['passive', false, true],
    ['invoicePerAttempt', true, false],
    ['events', 'changes', 'all'],
  ];
  /** Kept in milliseconds. */
  const DURATIONS: [name: string, byDefault: number, written: string, ms: number][] = [
    ['checkoutBudget', 7_000, '7.5s', 7_500],
    ['screeningDeadline', 24 * HOUR, '1h', HOUR],
    ['retryWithin', HOUR, '1m', 60_000],
    ['gatewayResultWithin', 24 * HOUR, '2m', 120_000],
    ['reviewLeadTime', 12 * HOUR, '3m', 180_000],
    ['reviewLimit', 720 * HOUR, '1d', 24 * HOUR],
    ['recheckLeadTime', 12 * HOUR, '0s', 0],
    ['cancelWindow', 120 * HOUR, '10m', 600_000],
  ];
  const named = (entries: [string, unknown][]) => Object.fromEntries(entries);

  it('has the defaults that are promised', () => {
    const { apiKey, ...settings } = integration({});
    expect(settings).toEqual({
      ...{ name: 'default', ...least },
      ...named(KEPT.map(([name, byDefault]) => [name, byDefault])),
      ...named(DURATIONS.map(([name, byDefault]) => [`${name}Ms`, byDefault])),
      rescreenOnError: { tries: 3, pauseMs: 60_000 },
      poll: { firstMs: 60_000, factor: 1.5, maxMs: 15 * 60_000 },
    });
    expect(apiKey()).toBe(leastEnv.SCREENING_API_KEY);
  });

  it('takes every setting', () => {
    const kept = {
      ...named(KEPT.map(([name, , written]) => [name, written])),
      portalLink: 'https://portal.example.com/{transactionId}',
      shopLink: 'https://shop.example.com/orders/{orderId}',
    };
    const settings = integration({
      ...kept,
      ...named(DURATIONS.map(([name, , written]) => [name, written])),
      rescreenOnError: { tries: 0, pause: '500ms' },
      poll: { first: '1s', factor: 1, max: '1s' },
    });
    expect(settings).toMatchObject({
      ...kept,
      ...named(DURATIONS.map(([name, , , ms]) => [`${name}Ms`, ms])),
      rescreenOnError: { tries: 0, pauseMs: 500 },
      poll: { firstMs: 1_000, factor: 1, maxMs: 1_000 },
    });
    const short = { reviewLeadTimeMs: 1_000, recheckLeadTimeMs: 1_000 };
    expect(integration({ cancelWindow: '10s' })).toMatchObject(short);
    // Any unit will do for the window of mode live.
    expect(integration({ mode: 'live', cancelWindow: '5d' }).cancelWindowMs).toBe(120 * HOUR);
  });

  it('reads its API key from the environment at each call', () => {
    const env: NodeJS.ProcessEnv = { ...environment, SHOP_KEY: 'old' };
    const { apiKey } = integration({ apiKeyEnv: 'SHOP_KEY' }, env);
    env.SHOP_KEY = 'new';
    expect(apiKey()).toBe('new');
    delete env.SHOP_KEY;
    expect(apiKey()).toBeUndefined();
  });

  it.each(['sk-live-1\n', ' sk-live-1', 'sk live 1', 'sk-live-ü', '\u00a0'])(
    'takes no API key that a header can’t carry: %j',
    (key) => {
      const faults = faultsOfSettings({ apiKeyEnv: 'SHOP_KEY' }, { ...environment, SHOP_KEY: key });
      expect(faults).toEqual({ 'integrations.default.apiKeyEnv': expect.stringContaining('visible ASCII') });
      expect(JSON.stringify(faults)).not.toContain('live');
    },
  );

  it.each([
    ['apiKeyEnv', `"${A_SECRET}"`, 'without quotes'],
    ['eventsSecretEnv', `"${A_SECRET}"`, 'without quotes'],
    ['webhookSecretEnv', `"${A_SECRET}"`, 'without quotes'],
    ['webhookSecretEnv', ',', 'at least one secret'],
  ])('takes from the variable in %s no value such as %s', (key, value, words) => {
    const faults = faultsOfSettings({ [key]: 'ITS_VARIABLE' }, { ...environment, ITS_VARIABLE: value });
    expect(faults).toEqual({ [`integrations.default.${key}`]: expect.stringContaining(words) });
  });

  it.each<[settings: object, path: string, words: string]>([
    [{ baseUrl: undefined }, 'baseUrl', 'is required'],
    [{ portalBaseUrl: 5 }, 'portalBaseUrl', 'must be an http'],
    [{ workflow: 'x' }, 'workflow', '"pre-gateway"'],
    [{ mode: 'x' }, 'mode', '"live"'],
    [{ mode: 'live', baseUrl: 'http://screening.example' }, 'baseUrl', 'must be https://'],
    [{ apiKeyEnv: 'sk-live-1' }, 'apiKeyEnv', 'not the key'],
    [{ apiKeyEnv: 'NOT_SET_ANYWHERE' }, 'apiKeyEnv', 'is not set'],
    [{ eventsUrl: 'shop.example' }, 'eventsUrl', 'must be an http'],
    [{ eventsSecretEnv: 'whsec_a=' }, 'eventsSecretEnv', 'not the key'],
    [{ dialect: 'x' }, 'dialect', '"sample"'],
    [{ enrich: 'yes' }, 'enrich', 'true or false'],
    [{ checkoutBudget: '7.6s' }, 'checkoutBudget', 'at most 7.5s'],
    [{ checkoutBudget: 7000 }, 'checkoutBudget', 'must be a duration'],
    [{ checkoutBudget: '0s' }, 'checkoutBudget', 'longer than 0'],
    [{ whenUnavailable: 'cancel' }, 'whenUnavailable', '"hold"'],
    [{ portalLink: 'javascript:alert("{transactionId}")' }, 'portalLink', 'https://'],
    [{ portalLink: 'http://portal.example.com/{transactionId}' }, 'portalLink', 'https://'],
    [{ portalLink: 'https://portal.example.com/' }, 'portalLink', '{transactionId}'],
    [{ shopLink: 'https://shop.example.com/' }, 'shopLink', '{orderId}'],
    [{ shown: ['payment'] }, 'shown[0]', '"email"'],
    [{ whenUnavailable: [{ amountBelow: '5', action: 'hold' }] }, 'whenUnavailable[0].amountBelow', 'number'],
    [{ skip: [{ currency: [] }] }, 'skip[0].currency', 'must not be empty'],
    [{ whenUnavailable: [{ amountBelow: 5 }] }, 'whenUnavailable[0].action', 'is required'],
    [{ whenUnavailable: [{ amountBelow: 5, action: 'hold' }] }, 'whenUnavailable[0].currency', 'an amount'],
    [{ skip: [{ amountAtLeast: 5 }] }, 'skip[0].currency', 'an amount'],
    [{ skip: [{}] }, 'skip[0]', 'must have a condition'],
    [{ skip: [{ currency: ['EURO'] }] }, 'skip[0].currency[0]', 'three letters'],
    [{ notCards: 'orderId' }, 'notCards', 'a list of paths'],
    [{ notCards: ['orderId', 'reason'] }, 'notCards[1]', 'an id field'],
    [{ declineMessage: '' }, 'declineMessage', 'must not be empty'],
    [{ screeningDeadline: '1w' }, 'screeningDeadline', 'must be a duration'],
    [{ reviewLimit: '9999d' }, 'reviewLimit', 'at most 3650d'],
    [{ rescreenOnError: { tries: -1, pause: '1m' } }, 'rescreenOnError.tries', 'negative'],
    [{ poll: { first: '2m', factor: 1.5, max: '1m' } }, 'poll.max', 'shorter than first'],
    [{ poll: { first: '2m', factor: 0.5, max: '5m' } }, 'poll.factor', 'at least 1'],
    [{ poll: { first: '2m', max: '5m' } }, 'poll.factor', 'is required'],
    [{ cancelWindow: '119h', mode: 'live' }, 'cancelWindow', 'must be 120h'],
    [{ screeningDeadline: '120h', mode: 'live' }, 'screeningDeadline', 'shorter than cancelWindow'],
    [{ reviewLeadTime: '120h' }, 'reviewLeadTime', 'shorter than cancelWindow'],
    [{ reviewLeadTime: '30s' }, 'reviewLeadTime', 'too late to cancel'],
    [{ recheckLeadTime: '10ms', cancelWindow: '1s' }, 'recheckLeadTime', 'too late to cancel'],
    [{ recheckLeadTime: '2m', cancelWindow: '1m' }, 'recheckLeadTime', 'shorter than cancelWindow'],
    [{ onUnresolvedReview: 'cancel', reviewLimit: '108h' }, 'reviewLimit', 'before onUnresolvedReview'],
    [{ passiv: true }, 'passiv', 'not a known key; check its spelling'],
  ])('with %o is refused at %s: %s', (settings, path, words) => {
    expect(faultsOfSettings(settings)).toEqual({
      [`integrations.default.${path}`]: expect.stringContaining(words),
    });
  });
});

describe('a policy file', () => {
  it('holds several integrations', () => {
    const config = load({ integrations: { default: least, outlet: { ...least, passive: true } } });
    expect(config.findIntegration('outlet')).toMatchObject({ name: 'outlet', passive: true });
    const keys = { SCREENING_API_KEY: 'a', SCREENING_API_KEY_PHONE: 'b' };
    const example = loadConfig({ ...keys, SCREENING_CONFIG: 'examples/policy.json' }, 'worker');
    expect([...example.integrations.keys()]).toEqual(['default', 'phone']);
  });

  it('is refused with the errors of all its integrations at once', () => {
    const a = { ...least, mode: 'x', poll: { first: 1 }, recheckLeadTime: '120h' };
    const b = { mode: 'live', baseUrl: 'http://b.example', portalBaseUrl: 'http://b.example', skip: 1 };
    const faults = faultsOf({ integration: {}, integrations: { a, b, 'b:c': least, d: [] } });
    const ofPoll = ['first', 'factor', 'max'].map((key) => `a.poll.${key}`);
    const ofB = ['b.baseUrl', 'b.portalBaseUrl', 'b.skip', 'b:c', 'd'];
    const keys = ['a.mode', ...ofPoll, 'a.recheckLeadTime', ...ofB].map((key) => `integrations.${key}`);
    expect(Object.keys(faults).sort()).toEqual(['integration', ...keys].sort());
  });

  it.each([
    ['{"integrations": }', 'SCREENING_CONFIG', 'is not JSON'],
    ['[]', 'SCREENING_CONFIG', 'does not hold a JSON object'],
    ['{}', 'integrations', 'is required'],
    ['{"integrations": {}}', 'integrations', 'at least one'],
  ])('that holds %s is refused', (content, path, words) => {
    expect(faultsOf(content)).toEqual({ [path]: expect.stringContaining(words) });
  });

  it('may begin with a byte order mark', () => {
    const content = JSON.stringify({ integrations: { default: least } });
    expect(load(`\ufeff${content}`).findIntegration('default')).toBeDefined();
  });

  it("that can't be read is refused without its path", () => {
    const missing = () => loadConfig({ ...environment, SCREENING_CONFIG: '/nowhere/missing.json' });
    expect(missing).toThrow("SCREENING_CONFIG: names a file that can't be read (ENOENT)");
    expect(missing).not.toThrow('missing.json');
  });
});

describe('the events receiver of an integration', () => {
  const SHOP_URL = 'https://shop.example/events';
  const PHONE_URL = 'https://phone.example/events';
  const common = { EVENTS_URL: SHOP_URL, EVENTS_SECRETS: A_SECRET };
  const own = { eventsUrl: PHONE_URL, eventsSecretEnv: 'PHONE' };

  /** The settings with these keys of the integration `phone`, next to an integration without any. */
  function settingsWith(phone: object, env: NodeJS.ProcessEnv, role?: Role) {
    const integrations = { default: least, phone: { ...least, ...phone } };
    return load({ integrations }, { ...environment, ...env }, role);
  }

  it.each([
    [{}, common, undefined, undefined],
    [own, common, PHONE_URL, [ANOTHER, A_SECRET]],
    [own, {}, PHONE_URL, [ANOTHER, A_SECRET]],
    [{ eventsUrl: PHONE_URL }, common, PHONE_URL, [A_SECRET]],
    [{ eventsUrl: PHONE_URL }, { EVENTS_SECRETS: A_SECRET }, PHONE_URL, [A_SECRET]],
    [{ eventsSecretEnv: 'PHONE' }, common, SHOP_URL, [ANOTHER, A_SECRET]],
  ])('has what it names, and else what the common one has: %o with %o', (phone, env, url, secrets) => {
    const { events } = settingsWith(phone, { PHONE: `${ANOTHER}, ${A_SECRET}`, ...env });
    expect([...events.own]).toEqual(url === undefined ? [] : [['phone', { url, secrets }]]);
    expect(events.common?.url).toBe('EVENTS_URL' in env ? SHOP_URL : undefined);
  });

  it.each([
    [{ eventsUrl: PHONE_URL }, {}, 'is required with eventsUrl unless EVENTS_SECRETS is set'],
    [{ eventsSecretEnv: 'PHONE' }, common, 'names a variable that is not set'],
    [{ eventsSecretEnv: 'PHONE' }, { ...common, PHONE: `${A_SECRET},no` }, 'that must be a list of secrets'],
  ])('is refused: %o with %o', (phone, env, message) => {
    const path = 'integrations.phone.eventsSecretEnv';
    expect(faultsIn(() => settingsWith(phone, env))).toEqual({ [path]: expect.stringContaining(message) });
    // The API sends no events and needs no secret of theirs.
    expect(faultsIn(() => settingsWith(phone, env, 'api'))).toEqual({});
  });
});
