/** The schema of the policy file. `npm run docs` writes the table of `docs/policy.md` from it. */
import { z } from 'zod';
import { isIdPath } from '../card-data/card-data.ts';
import { oneOf } from '../contract/fields.ts';
import { DECLINE_MESSAGE, type Integration, type OrderRule, SHOWN_FIELDS } from '../contract/policy.ts';
import { isRecord } from '../contract/values.ts';
import { INTEGRATION_WORKFLOWS, lastStretchMs, UNAVAILABLE_ACTIONS } from '../contract/words.ts';
import { baseUrl, duration, durationMs, isPlaintext, targetUrl, text, texts } from './values.ts';

const flag = z.boolean({ error: 'must be true or false' });
const number = z.number({ error: 'must be a number' });
const money = number.nonnegative('must not be negative');
const currencies = z
  .array(text.regex(/^[A-Za-z]{3}$/, 'must be a code of three letters'), { error: 'must be a list of codes' })
  .min(1, 'must not be empty');
const variableName = text.regex(
  /^[A-Za-z_]\w*$/,
  'must be the name of an environment variable, not the key itself',
);
const linkWith = (id: string) =>
  text.refine(
    (link) => URL.canParse(link) && new URL(link).protocol === 'https:' && link.includes(id),
    `must be an https:// address that contains ${id}`,
  );
const idPath = text.refine(isIdPath, 'must be the path of an id field, such as order.invoiceNumber');

const conditions = {
  amountBelow: money.optional(),
  amountAtLeast: money.optional(),
  currency: currencies.optional(),
  paymentMethod: texts.optional(),
};
/** @returns whether a rule with an amount names its currencies: 100 is another amount in each */
const hasCurrency = ({ amountBelow, amountAtLeast, currency }: OrderRule): boolean =>
  currency !== undefined || (amountBelow === undefined && amountAtLeast === undefined);
const CURRENCY_MISSING = { path: ['currency'], error: 'is required beside an amount' };
const action = oneOf(UNAVAILABLE_ACTIONS);
const unavailableRule = z
  .strictObject({ ...conditions, action }, { error: 'must be a rule with an action' })
  .refine(hasCurrency, CURRENCY_MISSING);
const skipRule = z
  .strictObject(
    {
      ...conditions,
      customerId: texts.optional(),
      itemCategory: texts.optional(),
      anyItemCategory: texts.optional(),
    },
    { error: 'must be a rule' },
  )
  .refine((rule) => Object.keys(rule).length > 0, 'must have a condition: without one no order is screened')
  .refine(hasCurrency, CURRENCY_MISSING);

/** Each may add a transaction to an order, which Temporal carries as one payload of at most 2 MB. */
export const MOST_RESCREENS = 10;
const rescreens = z
  .strictObject(
    {
      tries: z
        .int({ error: 'must be a whole number' })
        .min(0, 'must not be negative')
        .max(MOST_RESCREENS, `must be at most ${MOST_RESCREENS}`),
      pause: duration(),
    },
    { error: 'must be an object with tries and pause' },
  )
  .transform(({ tries, pause }) => ({ tries, pauseMs: pause }));
const pauses = z
  .strictObject(
    {
      first: duration(),
      factor: number.min(1, 'must be at least 1').max(100, 'must be at most 100'),
      max: duration(),
    },
    { error: 'must be an object with first, factor and max' },
  )
  .refine(({ first, max }) => max >= first, { path: ['max'], error: 'must not be shorter than first' })
  .transform(({ first, factor, max }) => ({ firstMs: first, factor, maxMs: max }));

/** The window that the screening service gives. */
const FULL_WINDOW = '120h';
const LEAD_TIME = '12h';
/** Returns the lead time of an integration that sets none: in a shorter window a tenth of it. */
const leadTimeIn = (window: number) => Math.min(durationMs(LEAD_TIME), Math.floor(window / 10));

export const integrationKeys = z.strictObject(
  {
    workflow: oneOf(INTEGRATION_WORKFLOWS)
      .default('pre-acceptance')
      .describe(
        'when orders are screened: `pre-gateway`, `pre-acceptance`, `post-acceptance`; a request may name another, and later attempts of that order name the same',
      ),
    mode: oneOf(['test', 'live'])
      .default('test')
      .describe('the key’s mode: `test` takes only test card numbers, `live` only real ones'),
    apiKeyEnv: variableName
      .default('SCREENING_API_KEY')
      .describe('the name of the variable that holds the key; keys are never written in the file'),
    baseUrl: baseUrl.describe('the screening address that fits the key’s mode'),
    portalBaseUrl: baseUrl.describe('the portal address'),
    dialect: oneOf(['definition', 'sample'])
      .default('definition')
      .describe(
        '`definition`: POST /transaction, `nf-token`, definition spellings; `sample`: POST to the root, `nfToken`, camelCase',
      ),
    apiKeyHeader: flag
      .default(false)
      .describe('send the key in the header `x-api-key` as well, status calls included'),
    enrich: flag.default(true).describe('ask for insights'),
    // Temporal sends a heartbeat for a workflow task after 8 s, which costs 3 events.
    checkoutBudget: duration({ most: '7.5s' })
      .prefault('7s')
      .describe('how long a checkout may wait; at most `7.5s`'),
    whenUnavailable: z
      .union([action, z.array(unavailableRule)], {
        error: 'must be "hold", "proceed", "decline" or a list of rules',
      })
      .default('hold')
      .describe(
        'the action of a checkout without a decision: `hold`, `proceed`, `decline`, or a list of rules, first match wins, `hold` if none does',
      ),
    skip: z
      .array(skipRule, { error: 'must be a list of rules' })
      .default([])
      .describe('rules for orders that aren’t screened; one match is enough'),
    notCards: z
      .array(idPath, { error: 'must be a list of paths' })
      .max(100, 'must have at most 100 paths')
      .default([])
      .describe(
        'id fields whose digits are no card number, though they may look like one: `["orderId", "customer.id"]` ([below](#ids-that-look-like-card-numbers))',
      ),
    paymentMethods: z
      .strictObject(
        { noCard: z.array(text.trim().min(1), { error: 'must be a list of names' }).default([]) },
        { error: 'must be an object with noCard' },
      )
      .prefault({})
      .describe(
        '`noCard`: whole names of payment methods that are no card, in any case, `_` as a space, besides [those that are known](calling.md#orders-without-a-card); every other name is a card',
      ),
    unknownFields: oneOf(['drop', 'refuse'])
      .default('drop')
      .describe(
        'what happens to a field of a transaction that the interface lacks: `drop`: not sent, and named in the answer’s `warnings`; `refuse`: 422. A transaction may nest at most 20 levels, dropped fields included',
      ),
    declineMessage: text
      .max(1_000, 'must have at most 1000 characters')
      .default(DECLINE_MESSAGE)
      .describe('shown on `decline` when the screening service gives no message'),
    screeningDeadline: duration().prefault('24h').describe('how long the catch-up continues after `pending`'),
    rescreenOnError: rescreens
      .prefault({ tries: 3, pause: '1m' })
      .describe(`after the decision \`error\`; at most ${MOST_RESCREENS} tries`),
    retryWithin: duration().prefault('1h').describe('how long a declined order waits for another attempt'),
    gatewayResultWithin: duration()
      .prefault('24h')
      .describe('how long an order waits for the gateway’s result, until its end at most; then attention'),
    reviewBeforeGateway: oneOf(['proceed', 'hold'])
      .default('proceed')
      .describe('pre-gateway: whether a review goes to the gateway at once or is held first'),
    poll: pauses
      .prefault({ first: '1m', factor: 1.5, max: '15m' })
      .describe(
        'pauses between polls of a review: the first, then each `factor` times the one before, up to `max`',
      ),
    reviewLeadTime: duration().optional().meta({
      fallback: LEAD_TIME,
      description: 'how long before the window closes an open review or a cancel not done yet is acted on',
    }),
    onUnresolvedReview: oneOf(['alert', 'cancel'])
      .default('alert')
      .describe('`alert`: attention; `cancel`: cancel with the screening service, whatever `autoCancel` is'),
    reviewLimit: duration()
      .prefault('30d')
      .describe('how long a review stays open; then it is closed, with attention'),
    recheckLeadTime: duration({ leastMs: 0 }).optional().meta({
      fallback: LEAD_TIME,
      description: 'how long before the window closes a `pass` is read again; `0s` or `passive` turns it off',
    }),
    autoCancel: flag.default(true).describe('cancel with the screening service when the action is `cancel`'),
    cancelAfterReport: oneOf(['never', 'always'])
      .default('never')
      .describe(
        'an order that passed, was reported as fraud, and then fails: `never`: attention, since it may have shipped; `always`: the action is `cancel`',
      ),
    cancelWindow: duration().prefault(FULL_WINDOW).describe('other values only in mode `test`'),
    passive: flag
      .default(false)
      .describe('screen and record, never act: every action is `proceed`, the state keeps what it would be'),
    invoicePerAttempt: flag
      .default(true)
      .describe(
        'later creates are sent as `<invoice>~2` (attempt 2) or `<invoice>~1.2` (first rescreen of attempt 1), so that a lost answer can be looked up; with `false` such an attempt ends without a decision',
      ),
    events: oneOf(['all', 'changes'])
      .default('changes')
      .describe(
        '`all`: every event; `changes`: only what a caller didn’t learn from the answer at checkout ([events](calling.md#only-what-changes))',
      ),
    eventsUrl: targetUrl
      .optional()
      .describe('the address that receives the events of its orders; else `EVENTS_URL`'),
    eventsSecretEnv: variableName
      .optional()
      .describe(
        'the name of the variable that holds the secrets of its events, a comma list; else `EVENTS_SECRETS`',
      ),
    webhookSecretEnv: variableName
      .optional()
      .describe(
        'the name of the variable that holds the secrets of its webhooks, a comma list; else `WEBHOOK_SECRETS`, which are then refused for it',
      ),
    portalLink: linkWith('{transactionId}')
      .optional()
      .describe(
        'the page of a transaction in the screening service’s portal: an https address with `{transactionId}`, which the queue page links to',
      ),
    shopLink: linkWith('{orderId}')
      .optional()
      .describe('the page of an order in the shop: an https address with `{orderId}`'),
    shown: z
      .array(oneOf(SHOWN_FIELDS), { error: 'must be a list of fields' })
      .default([])
      .describe(
        'the fields of an order’s own transaction that its page and `view=full` show: `name`, `email`, `billTo`, `shipTo`, `avs`, `cvv`, `items`',
      ),
  },
  { error: 'must be an object' },
);

/** The checks across keys run even when a key has an error, so that all errors are listed. */
export const integrationSchema = integrationKeys.superRefine(checkAcrossKeys, {
  when: ({ value }) => isRecord(value),
});

export const policyFile = z.strictObject(
  {
    integrations: z
      .record(z.string(), integrationSchema, { error: 'must be an object of integrations' })
      .refine((all) => Object.keys(all).length > 0, 'must have at least one integration'),
  },
  { error: 'names a file that does not hold a JSON object' },
);

/** A key with an error has its raw value here. */
function checkAcrossKeys(settings: z.output<typeof integrationKeys>, context: z.RefinementCtx): void {
  const { mode, cancelWindow, reviewLimit, reviewLeadTime = leadTimeIn(cancelWindow) } = settings;
  const add = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
  for (const key of ['reviewLeadTime', 'recheckLeadTime'] as const) {
    const leadTime = Number(settings[key] || Number.NaN);
    if (leadTime >= cancelWindow) add(key, 'must be shorter than cancelWindow');
    if (leadTime <= lastStretchMs(cancelWindow)) add(key, 'must be longer: it would be too late to cancel');
  }
  if (settings.onUnresolvedReview === 'cancel' && reviewLimit <= cancelWindow - reviewLeadTime) {
    add('reviewLimit', 'must be longer: a review would be closed before onUnresolvedReview cancels it');
  }
  if (mode !== 'live') return;
  if (settings.screeningDeadline >= cancelWindow)
    add(
      'screeningDeadline',
      'must be shorter than cancelWindow: nobody could act on an order that ends with it',
    );
  if (typeof cancelWindow === 'number' && cancelWindow !== durationMs(FULL_WINDOW)) {
    add('cancelWindow', `must be ${FULL_WINDOW} in mode live; other windows need mode test`);
  }
  for (const key of ['baseUrl', 'portalBaseUrl'] as const) {
    if (isPlaintext(settings[key])) {
      add(key, 'must be https:// in mode live, since orders and the API key are sent there');
    }
  }
}

/** Returns an integration from its checked settings. Each call of its `apiKey`, `eventsSecret` and `webhookSecret` reads `env`. */
export function toIntegration(
  name: string,
  settings: z.output<typeof integrationKeys>,
  env: NodeJS.ProcessEnv,
): Integration {
  const { apiKeyEnv, eventsSecretEnv, webhookSecretEnv, ...others } = settings;
  const { checkoutBudget, screeningDeadline, retryWithin, gatewayResultWithin, ...more } = others;
  const { reviewLimit, cancelWindow, reviewLeadTime, recheckLeadTime, ...same } = more;
  return {
    name,
    ...same,
    apiKey: () => env[apiKeyEnv],
    ...(eventsSecretEnv !== undefined && { eventsSecret: () => env[eventsSecretEnv] }),
    ...(webhookSecretEnv !== undefined && { webhookSecret: () => env[webhookSecretEnv] }),
    checkoutBudgetMs: checkoutBudget,
    screeningDeadlineMs: screeningDeadline,
    retryWithinMs: retryWithin,
    gatewayResultWithinMs: gatewayResultWithin,
    reviewLimitMs: reviewLimit,
    cancelWindowMs: cancelWindow,
    reviewLeadTimeMs: reviewLeadTime ?? leadTimeIn(cancelWindow),
    recheckLeadTimeMs: recheckLeadTime ?? leadTimeIn(cancelWindow),
  };
}
