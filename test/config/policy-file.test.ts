import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { HOUR } from '../fixtures/policies.ts';
import { faultsIn } from './support.ts';

const folder = mkdtempSync(join(tmpdir(), 'order-screening-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const least = {
  baseUrl: 'https://test.screening.example',
  portalBaseUrl: 'https://portal.example/api/v1/transaction-update',
};
const env: NodeJS.ProcessEnv = {
  TEMPORAL_CONFIG_FILE: join(folder, 'none.toml'),
  SCREENING_API_KEY: 'key',
  PAYLOAD_KEYS: `a:${randomBytes(32).toString('base64')}`,
};

function load(content: unknown, extra: NodeJS.ProcessEnv = {}) {
  const file = join(folder, 'policy.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return loadConfig(Object.assign(env, extra, { SCREENING_CONFIG: file }));
}

function integration(settings: object) {
  const found = load({ integrations: { default: { ...least, ...settings } } }).findIntegration('default');
  if (found === undefined) throw new Error('no integration');
  return found;
}

function faultsOf(content: unknown): Record<string, string> {
  return faultsIn(() => load(content));
}

const faultsOfSettings = (settings: object) =>
  faultsOf({ integrations: { default: { ...least, ...settings } } });

describe('an integration of the policy file', () => {
  it('has the defaults that are promised', () => {
    const settings = integration({});
    expect(settings).toMatchObject({
      name: 'default',
      ...least,
      workflow: 'pre-acceptance',
      mode: 'test',
      dialect: 'definition',
      enrich: true,
      checkoutBudgetMs: 7_000,
      whenUnavailable: 'hold',
      skip: [],
      declineMessage: expect.stringMatching(/^We could not accept/),
      screeningDeadlineMs: 24 * HOUR,
      rescreenOnError: { tries: 3, pauseMs: 60_000 },
      retryWithinMs: HOUR,
      gatewayResultWithinMs: 24 * HOUR,
      reviewBeforeGateway: 'proceed',
      poll: { firstMs: 60_000, factor: 1.5, maxMs: 15 * 60_000 },
      reviewLeadTimeMs: 12 * HOUR,
      onUnresolvedReview: 'alert',
      reviewLimitMs: 720 * HOUR,
      recheckLeadTimeMs: 12 * HOUR,
      autoCancel: true,
      cancelWindowMs: 120 * HOUR,
      passive: false,
      invoicePerAttempt: true,
    });
    expect(settings.apiKey()).toBe('key');
  });

  it('takes every setting', () => {
    expect(
      integration({
        workflow: 'pre-gateway',
        dialect: 'sample',
        enrich: false,
        checkoutBudget: '7.5s',
        whenUnavailable: [
          { amountBelow: 50, paymentMethod: ['gift card'], action: 'proceed' },
          { action: 'decline' },
        ],
        skip: [{ amountBelow: 5 }, { currency: ['EUR'], customerId: ['staff'], itemCategory: ['gift'] }],
        declineMessage: 'Sorry.',
        screeningDeadline: '1h',
        rescreenOnError: { tries: 0, pause: '500ms' },
        retryWithin: '1m',
        gatewayResultWithin: '2m',
        reviewBeforeGateway: 'hold',
        poll: { first: '1s', factor: 1, max: '1s' },
        reviewLeadTime: '3m',
        onUnresolvedReview: 'cancel',
        reviewLimit: '1d',
        recheckLeadTime: '0s',
        autoCancel: false,
        cancelWindow: '10m',
        passive: true,
        invoicePerAttempt: false,
      }),
    ).toMatchObject({
      workflow: 'pre-gateway',
      dialect: 'sample',
      enrich: false,
      checkoutBudgetMs: 7_500,
      whenUnavailable: [
        { amountBelow: 50, paymentMethod: ['gift card'], action: 'proceed' },
        { action: 'decline' },
      ],
      skip: [{ amountBelow: 5 }, { currency: ['EUR'], customerId: ['staff'], itemCategory: ['gift'] }],
      declineMessage: 'Sorry.',
      screeningDeadlineMs: HOUR,
      rescreenOnError: { tries: 0, pauseMs: 500 },
      retryWithinMs: 60_000,
      gatewayResultWithinMs: 120_000,
      reviewBeforeGateway: 'hold',
      poll: { firstMs: 1_000, factor: 1, maxMs: 1_000 },
      reviewLeadTimeMs: 180_000,
      onUnresolvedReview: 'cancel',
      reviewLimitMs: 24 * HOUR,
      recheckLeadTimeMs: 0,
      autoCancel: false,
      cancelWindowMs: 600_000,
      passive: true,
      invoicePerAttempt: false,
    });
  });

  it('shrinks its lead times to a tenth of a shorter cancel window', () => {
    expect(integration({ cancelWindow: '10s' })).toMatchObject({
      reviewLeadTimeMs: 1_000,
      recheckLeadTimeMs: 1_000,
    });
  });

  it('reads its key from the environment at each call', () => {
    load({ integrations: { default: { ...least, apiKeyEnv: 'SHOP_KEY' } } }, { SHOP_KEY: 'old' });
    const { apiKey } = integration({ apiKeyEnv: 'SHOP_KEY' });
    expect(apiKey()).toBe('old');
    env.SHOP_KEY = 'new';
    expect(apiKey()).toBe('new');
    delete env.SHOP_KEY;
    expect(apiKey()).toBeUndefined();
  });

  it('takes no key that an address or a header can’t carry as it is', () => {
    for (const key of ['sk-live-1\n', ' sk-live-1', 'sk live 1', 'sk-live-ü', '\u00a0']) {
      env.SHOP_KEY = key;
      const faults = faultsOfSettings({ apiKeyEnv: 'SHOP_KEY' });
      expect(faults).toEqual({ 'integrations.default.apiKeyEnv': expect.stringContaining('visible ASCII') });
      expect(JSON.stringify(faults)).not.toContain('live');
    }
    delete env.SHOP_KEY;
  });

  it.each([
    [{ baseUrl: undefined }, 'integrations.default.baseUrl', 'is required'],
    [{ portalBaseUrl: 5 }, 'integrations.default.portalBaseUrl', 'must be an http'],
    [{ workflow: 'x' }, 'integrations.default.workflow', '"pre-gateway"'],
    [{ mode: 'x' }, 'integrations.default.mode', '"live"'],
    [{ apiKeyEnv: 'sk-live-1' }, 'integrations.default.apiKeyEnv', 'not the key'],
    [{ apiKeyEnv: 'NOT_SET_ANYWHERE' }, 'integrations.default.apiKeyEnv', 'is not set'],
    [{ eventsUrl: 'shop.example' }, 'integrations.default.eventsUrl', 'must be an http'],
    [{ eventsSecretEnv: 'whsec_a=' }, 'integrations.default.eventsSecretEnv', 'not the key'],
    [{ dialect: 'x' }, 'integrations.default.dialect', '"sample"'],
    [{ enrich: 'yes' }, 'integrations.default.enrich', 'true or false'],
    [{ checkoutBudget: '7.6s' }, 'integrations.default.checkoutBudget', 'at most 7.5s'],
    [{ checkoutBudget: 7000 }, 'integrations.default.checkoutBudget', 'must be a duration'],
    [{ checkoutBudget: '0s' }, 'integrations.default.checkoutBudget', 'longer than 0'],
    [{ whenUnavailable: 'cancel' }, 'integrations.default.whenUnavailable', '"hold"'],
    [
      { portalLink: 'http://portal.example.com/{transactionId}' },
      'integrations.default.portalLink',
      'https://',
    ],
    [{ portalLink: 'https://portal.example.com/' }, 'integrations.default.portalLink', '{transactionId}'],
    [{ portalLink: 'javascript:alert("{transactionId}")' }, 'integrations.default.portalLink', 'https://'],
    [
      { whenUnavailable: [{ amountBelow: '5', action: 'hold' }] },
      'integrations.default.whenUnavailable[0].amountBelow',
      'number',
    ],
    [
      { whenUnavailable: [{ currency: ['EUR'], action: 'hold' }] },
      'integrations.default.whenUnavailable[0].currency',
      'known key',
    ],
    [{ skip: [{}] }, 'integrations.default.skip[0]', 'a condition'],
    [{ skip: [{ currency: ['EURO'] }] }, 'integrations.default.skip[0].currency[0]', 'three letters'],
    [{ notCards: 'orderId' }, 'integrations.default.notCards', 'a list of paths'],
    [{ notCards: ['orderId', 'reason'] }, 'integrations.default.notCards[1]', 'an id field'],
    [{ declineMessage: '' }, 'integrations.default.declineMessage', 'not be empty'],
    [{ screeningDeadline: '1w' }, 'integrations.default.screeningDeadline', 'must be a duration'],
    [{ reviewLimit: '9999d' }, 'integrations.default.reviewLimit', 'at most 3650d'],
    [
      { rescreenOnError: { tries: -1, pause: '1m' } },
      'integrations.default.rescreenOnError.tries',
      'negative',
    ],
    [
      { poll: { first: '2m', factor: 1.5, max: '1m' } },
      'integrations.default.poll.max',
      'shorter than first',
    ],
    [{ poll: { first: '2m', factor: 0.5, max: '5m' } }, 'integrations.default.poll.factor', 'at least 1'],
    [{ cancelWindow: '119h', mode: 'live' }, 'integrations.default.cancelWindow', 'must be 120h'],
    [{ reviewLeadTime: '120h' }, 'integrations.default.reviewLeadTime', 'shorter than cancelWindow'],
    [
      { recheckLeadTime: '2m', cancelWindow: '1m' },
      'integrations.default.recheckLeadTime',
      'shorter than cancelWindow',
    ],
    [{ passiv: true }, 'integrations.default.passiv', 'not a known key'],
  ])('with %o is refused at %s', (settings, path, words) => {
    const faults = faultsOfSettings(settings);
    expect(Object.keys(faults)).toEqual([path]);
    expect(faults[path]).toContain(words);
  });

  it('allows the full cancel window to a live key, in any unit', () => {
    expect(faultsOfSettings({ mode: 'live', cancelWindow: '5d' })).toEqual({});
  });
});

describe('a policy file', () => {
  it('holds several integrations', () => {
    const config = load({ integrations: { default: least, outlet: { ...least, passive: true } } });
    expect(config.findIntegration('outlet')).toMatchObject({ name: 'outlet', passive: true });
  });

  it('is refused with the faults of all its integrations at once', () => {
    const faults = faultsOf({
      integration: {},
      integrations: { a: { ...least, mode: 'x', poll: { first: 1 } }, 'b:c': least, d: [] },
    });
    expect(Object.keys(faults).sort()).toEqual([
      'integration',
      'integrations.a.mode',
      'integrations.a.poll.factor',
      'integrations.a.poll.first',
      'integrations.a.poll.max',
      'integrations.b:c',
      'integrations.d',
    ]);
  });

  it.each([
    ['{"integrations": }', 'not valid JSON'],
    ['[]', 'does not hold a JSON object'],
  ])('that holds %s is refused', (content, words) => {
    expect(faultsOf(content).SCREENING_CONFIG).toContain(words);
  });

  it('without integrations is refused', () => {
    expect(faultsOf({ integrations: {} })).toHaveProperty('integrations');
  });

  it("that can't be read is refused without its path", () => {
    const missing = { ...env, SCREENING_CONFIG: join(folder, 'missing.json') };
    expect(() => loadConfig(missing)).toThrow("SCREENING_CONFIG: names a file that can't be read (ENOENT)");
    expect(() => loadConfig(missing)).not.toThrow('missing.json');
  });
});
