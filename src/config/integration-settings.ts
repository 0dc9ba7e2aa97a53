/** One integration as it is written in the policy file. */
import { z } from 'zod';
import type { Integration } from '../orders/policy.ts';
import { INTEGRATION_WORKFLOWS } from '../orders/words.ts';
import { baseUrl, duration, type FaultList, flag, word } from './values.ts';

/** Real cancel window: 5 × 24 h. */
const FULL_WINDOW_MS = 120 * 3_600_000;
const LONGEST_LEAD_MS = 12 * 3_600_000;
/** A workflow task is heartbeaten at 8 s, at a cost of 3 events. */
const LONGEST_BUDGET_MS = 7_500;

const DECLINE_MESSAGE =
  'We could not accept this order. Please check your details or try another way to pay.';

const money = z.number({ error: 'must be a number' }).nonnegative('must not be negative');
const words = z
  .array(z.string({ error: 'must be text' }).min(1, 'must not be empty'), {
    error: 'must be a list of texts',
  })
  .min(1, 'must not be empty');
const currencies = z.array(z.string().regex(/^[A-Za-z]{3}$/, 'must be a code of three letters'), {
  error: 'must be a list of codes',
});

const unavailableAction = word(['hold', 'proceed', 'decline']);

const unavailableRule = z.strictObject(
  {
    amountBelow: money.optional(),
    amountAtLeast: money.optional(),
    paymentMethod: words.optional(),
    action: unavailableAction,
  },
  { error: 'must be a rule with an action' },
);

const skipRule = z
  .strictObject(
    {
      amountBelow: money.optional(),
      amountAtLeast: money.optional(),
      currency: currencies.min(1, 'must not be empty').optional(),
      paymentMethod: words.optional(),
      customerId: words.optional(),
      itemCategory: words.optional(),
    },
    { error: 'must be a rule' },
  )
  .refine((rule) => Object.keys(rule).length > 0, 'must have a condition: without one no order is screened');

const whenUnavailable = z.union([unavailableAction, z.array(unavailableRule)], {
  error: 'must be "hold", "proceed", "decline" or a list of rules',
});

const rescreen = z.strictObject(
  {
    tries: z
      .int({ error: 'must be a whole number' })
      .min(0, 'must not be negative')
      .max(100, 'must be at most 100'),
    pause: duration(),
  },
  { error: 'must be an object with tries and pause' },
);

const poll = z.strictObject(
  {
    first: duration(),
    factor: z
      .number({ error: 'must be a number' })
      .min(1, 'must be at least 1')
      .max(100, 'must be at most 100'),
    max: duration(),
  },
  { error: 'must be an object with first, factor and max' },
);

/** Every key of an integration, with its default as it would be written; without one the key is required. */
const SETTINGS = {
  workflow: word(INTEGRATION_WORKFLOWS).default('pre-acceptance'),
  mode: word(['test', 'live']).default('test'),
  apiKeyEnv: z
    .string({ error: 'must be the name of an environment variable' })
    .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable, not the key')
    .default('SCREENING_API_KEY'),
  baseUrl: baseUrl(),
  portalBaseUrl: baseUrl(),
  dialect: word(['definition', 'sample']).default('definition'),
  enrich: flag().default(true),
  checkoutBudget: duration()
    .refine((ms) => ms <= LONGEST_BUDGET_MS, 'must be at most 7.5s')
    .prefault('7s'),
  whenUnavailable: whenUnavailable.default('hold'),
  skip: z.array(skipRule, { error: 'must be a list of rules' }).default([]),
  declineMessage: z
    .string({ error: 'must be text' })
    .min(1, 'must not be empty')
    .max(1_000, 'must have at most 1000 characters')
    .default(DECLINE_MESSAGE),
  screeningDeadline: duration().prefault('24h'),
  rescreenOnError: rescreen.prefault({ tries: 3, pause: '1m' }),
  retryWithin: duration().prefault('1h'),
  gatewayResultWithin: duration().prefault('24h'),
  reviewBeforeGateway: word(['proceed', 'hold']).default('proceed'),
  poll: poll.prefault({ first: '1m', factor: 1.5, max: '15m' }),
  reviewLeadTime: duration().optional(),
  onUnresolvedReview: word(['alert', 'cancel']).default('alert'),
  reviewLimit: duration().prefault('30d'),
  recheckLeadTime: duration(0).optional(),
  autoCancel: flag().default(true),
  cancelWindow: duration().prefault('120h'),
  passive: flag().default(false),
  invoicePerAttempt: flag().default(false),
} as const;

type Settings = { [Key in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Key]> };

/**
 * Reads one integration and adds every fault it has.
 * @param pathOf what a key is called to the person who wrote it: a path in the file, or a variable
 * @param env where `apiKey()` looks, at each call
 * @returns the integration, of use only while no fault was added
 */
export function readIntegration(
  name: string,
  raw: Record<string, unknown>,
  pathOf: (key: string) => string,
  env: NodeJS.ProcessEnv,
  faults: FaultList,
): Integration | undefined {
  for (const key of Object.keys(raw)) {
    if (!Object.hasOwn(SETTINGS, key)) faults.add(pathOf(key), 'is not a known key');
  }
  const settings = readSettings(raw, pathOf, faults);
  checkTogether(settings, pathOf, faults);
  return isComplete(settings) ? toIntegration(name, settings, env) : undefined;
}

function readSettings(
  raw: Record<string, unknown>,
  pathOf: (key: string) => string,
  faults: FaultList,
): Partial<Settings> {
  const entries = Object.entries(SETTINGS).map(([key, schema]) => {
    if (raw[key] === undefined && !schema.safeParse(undefined).success) {
      faults.add(pathOf(key), 'is required');
      return [key, undefined];
    }
    return [key, faults.read<unknown>(pathOf(key), schema, raw[key])];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Settings>;
}

/** What one setting asks of another. */
function checkTogether(
  settings: Partial<Settings>,
  pathOf: (key: string) => string,
  faults: FaultList,
): void {
  const { cancelWindow, mode, poll } = settings;
  if (mode === 'live' && cancelWindow !== undefined && cancelWindow !== FULL_WINDOW_MS) {
    faults.add(pathOf('cancelWindow'), 'must be 120h unless the mode is test');
  }
  for (const key of ['reviewLeadTime', 'recheckLeadTime'] as const) {
    const lead = settings[key];
    if (lead !== undefined && cancelWindow !== undefined && lead >= cancelWindow) {
      faults.add(pathOf(key), 'must be shorter than cancelWindow');
    }
  }
  if (poll !== undefined && poll.max < poll.first) {
    faults.add(`${pathOf('poll')}.max`, 'must not be shorter than first');
  }
}

const LEAD_TIMES: readonly string[] = ['reviewLeadTime', 'recheckLeadTime'];

function isComplete(settings: Partial<Settings>): settings is Settings {
  return Object.keys(SETTINGS).every((key) => LEAD_TIMES.includes(key) || Object.hasOwn(settings, key));
}

function toIntegration(name: string, settings: Settings, env: NodeJS.ProcessEnv): Integration {
  const leadMs = Math.min(LONGEST_LEAD_MS, Math.floor(settings.cancelWindow / 10));
  return {
    name,
    workflow: settings.workflow,
    mode: settings.mode,
    baseUrl: settings.baseUrl,
    portalBaseUrl: settings.portalBaseUrl,
    dialect: settings.dialect,
    enrich: settings.enrich,
    checkoutBudgetMs: settings.checkoutBudget,
    whenUnavailable: settings.whenUnavailable,
    skip: settings.skip,
    declineMessage: settings.declineMessage,
    screeningDeadlineMs: settings.screeningDeadline,
    rescreenOnError: { tries: settings.rescreenOnError.tries, pauseMs: settings.rescreenOnError.pause },
    retryWithinMs: settings.retryWithin,
    gatewayResultWithinMs: settings.gatewayResultWithin,
    reviewBeforeGateway: settings.reviewBeforeGateway,
    poll: { firstMs: settings.poll.first, factor: settings.poll.factor, maxMs: settings.poll.max },
    reviewLeadTimeMs: settings.reviewLeadTime ?? leadMs,
    onUnresolvedReview: settings.onUnresolvedReview,
    reviewLimitMs: settings.reviewLimit,
    recheckLeadTimeMs: settings.recheckLeadTime ?? leadMs,
    autoCancel: settings.autoCancel,
    cancelWindowMs: settings.cancelWindow,
    passive: settings.passive,
    invoicePerAttempt: settings.invoicePerAttempt,
    apiKey: () => {
      const key = env[settings.apiKeyEnv];
      if (key === undefined || key === '') throw new Error(`The API key of integration ${name} is not set`);
      return key;
    },
  };
}
