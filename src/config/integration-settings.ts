/** One integration as it is written in the policy file. */
import { z } from 'zod';
import { isIdPath } from '../card-data/card-data.ts';
import type { Integration } from '../contract/policy.ts';
import { UNAVAILABLE_ACTIONS } from '../contract/words.ts';
import { POLICY_KEYS, type PolicyKey, settingName, type ValueKind } from './policy-keys.ts';
import {
  baseUrl,
  duration,
  durationMs,
  type FaultList,
  flag,
  isLoopback,
  targetUrl,
  word,
} from './values.ts';

/** Real cancel window: 5 × 24 h. */
const FULL_WINDOW_MS = 120 * 3_600_000;
/** Before the end of the window; not longer than a tenth of it unless that is said. */
const LEAD_TIMES = ['reviewLeadTime', 'recheckLeadTime'] as const;

const money = z.number({ error: 'must be a number' }).nonnegative('must not be negative');
const words = z
  .array(z.string({ error: 'must be text' }).min(1, 'must not be empty'), {
    error: 'must be a list of texts',
  })
  .min(1, 'must not be empty');
const currencies = z.array(z.string().regex(/^[A-Za-z]{3}$/, 'must be a code of three letters'), {
  error: 'must be a list of codes',
});

const unavailableAction = word(UNAVAILABLE_ACTIONS);

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

const skip = z.array(skipRule, { error: 'must be a list of rules' });

const paths = z
  .array(z.string().refine(isIdPath, 'must be the path of an id field, such as order.invoiceNumber'), {
    error: 'must be a list of paths',
  })
  .max(100, 'must have at most 100 paths');

const whenUnavailable = z.union([unavailableAction, z.array(unavailableRule)], {
  error: 'must be "hold", "proceed", "decline" or a list of rules',
});

const portalLink = z
  .string({ error: 'must be text' })
  .refine(
    (link) => URL.canParse(link) && new URL(link).protocol === 'https:' && link.includes('{transactionId}'),
    'must be an https:// address with {transactionId}',
  );

const variableName = z
  .string({ error: 'must be the name of an environment variable' })
  .regex(/^[A-Za-z_]\w*$/, 'must be the name of an environment variable, not the key');

/** @returns what checks a value of that kind and reads it */
function schemaOf(key: ValueKind): z.ZodType {
  switch (key.kind) {
    case 'flag':
      return flag();
    case 'word':
      return word(key.words);
    case 'address':
      return baseUrl();
    case 'target':
      return targetUrl();
    case 'link':
      return portalLink;
    case 'variable':
      return variableName;
    case 'rules':
      return skip;
    case 'paths':
      return paths;
    case 'action or rules':
      return whenUnavailable;
    case 'duration': {
      const { most } = key;
      const any = duration(key.orZero === true ? 0 : 1);
      return most === undefined ? any : any.refine((ms) => ms <= durationMs(most), `must be at most ${most}`);
    }
    case 'number':
      return within(z.number({ error: 'must be a number' }), key);
    case 'whole number':
      return within(z.int({ error: 'must be a whole number' }), key);
    case 'text':
      return z
        .string({ error: 'must be text' })
        .min(1, 'must not be empty')
        .max(key.most, `must have at most ${key.most} characters`);
    case 'group':
      return groupOf(key.parts);
  }
}

function within(number: z.ZodNumber, { least, most }: { least: number; most: number }): z.ZodNumber {
  return number
    .min(least, least === 0 ? 'must not be negative' : `must be at least ${least}`)
    .max(most, `must be at most ${most}`);
}

function groupOf(parts: Record<string, ValueKind>): z.ZodType {
  const keys = Object.entries(parts);
  const shape = Object.fromEntries(keys.map(([name, part]) => [name, schemaOf(part)]));
  const names = keys.map(([name]) => name);
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return z
    .strictObject(shape, { error: `must be an object with ${list}` })
    .transform((read) =>
      Object.fromEntries(keys.map(([name, part]) => [settingName(name, part), read[name]])),
    );
}

const KEYS = Object.entries<PolicyKey>(POLICY_KEYS).map(([name, key]) => ({
  name,
  setting: settingName(name, key),
  key,
  schema: schemaOf(key),
}));

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
    if (!Object.hasOwn(POLICY_KEYS, key)) faults.add(pathOf(key), 'is not a known key');
  }
  const settings: Partial<Integration> = { name, ...readSettings(raw, pathOf, env, faults) };
  settleLeadTimes(settings, raw, pathOf, faults);
  checkTogether(settings, pathOf, faults);
  return isComplete(settings) ? settings : undefined;
}

function readSettings(
  raw: Record<string, unknown>,
  pathOf: (key: string) => string,
  env: NodeJS.ProcessEnv,
  faults: FaultList,
): Partial<Integration> {
  const entries = KEYS.map(({ name, setting, key, schema }) => {
    const written = raw[name] === undefined ? key.fallback : raw[name];
    if (written === undefined) {
      if (key.optional !== true) faults.add(pathOf(name), 'is required');
      return [setting, undefined];
    }
    const read = faults.read(pathOf(name), schema, written);
    if (key.kind !== 'variable' || typeof read !== 'string') return [setting, read];
    return [setting, () => env[read]];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function settleLeadTimes(
  settings: Partial<Integration>,
  raw: Record<string, unknown>,
  pathOf: (key: string) => string,
  faults: FaultList,
): void {
  const { cancelWindowMs } = settings;
  if (cancelWindowMs === undefined) return;
  for (const key of LEAD_TIMES) {
    const lead = settings[`${key}Ms`];
    if (lead === undefined) continue;
    if (raw[key] === undefined) settings[`${key}Ms`] = Math.min(lead, Math.floor(cancelWindowMs / 10));
    else if (lead >= cancelWindowMs) faults.add(pathOf(key), 'must be shorter than cancelWindow');
  }
}

/** What one setting asks of another. */
function checkTogether(
  { cancelWindowMs, mode, poll, ...addresses }: Partial<Integration>,
  pathOf: (key: string) => string,
  faults: FaultList,
): void {
  if (mode === 'live' && cancelWindowMs !== undefined && cancelWindowMs !== FULL_WINDOW_MS) {
    faults.add(pathOf('cancelWindow'), 'must be 120h unless the mode is test');
  }
  for (const key of ['baseUrl', 'portalBaseUrl'] as const) {
    const address = addresses[key];
    if (mode === 'live' && address !== undefined && isPlainBeyondHere(address)) {
      faults.add(pathOf(key), 'must be https:// in mode live: orders and the key of the service go there');
    }
  }
  if (poll !== undefined && poll.maxMs < poll.firstMs) {
    faults.add(`${pathOf('poll')}.max`, 'must not be shorter than first');
  }
}

function isComplete(settings: Partial<Integration>): settings is Integration {
  return KEYS.every(({ setting, key }) => key.optional === true || Object.hasOwn(settings, setting));
}

/** Whether an address asks for no TLS, and leads to another machine. */
export function isPlainBeyondHere(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return /^(?:http|redis):$/.test(protocol) && !isLoopback(hostname);
}
