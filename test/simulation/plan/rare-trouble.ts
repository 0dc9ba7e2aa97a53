/** Trouble that is rare: each kind befalls so many of a thousand lives, beside what their plans have. */
import type { Decision } from '../../../src/contract/words.ts';
import { type Operation, PORTAL_OPERATIONS } from '../../books/books.ts';
import { Dice, mixed } from '../random.ts';
import type { FaultKind, Happening } from './happenings.ts';
import type { Life } from './life.ts';
import { someTime } from './some-time.ts';

export const RATES = {
  broken: 30,
  stall: 30,
  'wrong-clock': 30,
  'no-integration': 15,
  'no-key': 15,
  'stash-down': 20,
  hints: 30,
  'second-thoughts': 30,
  'refused-after-lost': 20,
  'reset-and-continue': 20,
  'clock-set': 20,
  'decided-late': 60,
};
type Trouble = keyof typeof RATES;
/** Trouble of several happenings. */
type Composed = 'second-thoughts' | 'refused-after-lost' | 'reset-and-continue' | 'decided-late';
export type Rates = Readonly<Record<Trouble, number>>;
const TROUBLES = Object.keys(RATES).filter((name): name is Trouble => name in RATES);

const HOUR = 3_600_000;

/** @returns the life with the trouble that its seed draws, one kind at most */
export function withRareTrouble(life: Life, rates: Rates): Life {
  for (const [index, trouble] of TROUBLES.entries()) {
    const dice = new Dice(mixed(life.seed, -100 - index));
    if (dice.between(1, 1_000) > rates[trouble]) continue;
    const drawn = happenings(trouble, life, dice);
    const [, ...wishes] = life.wishes;
    return {
      ...life,
      ...(trouble === 'reset-and-continue' && { wishes: [['error', 'error', 'pass'], ...wishes] }),
      happenings: [...life.happenings, ...drawn],
    };
  }
  return life;
}

function happenings(trouble: Trouble, life: Life, dice: Dice): Happening[] {
  switch (trouble) {
    case 'second-thoughts':
      return secondThoughts(life, dice);
    case 'refused-after-lost':
      return refusedAfterLost(dice);
    case 'reset-and-continue':
      return resetAndContinue(life, dice);
    case 'decided-late':
      return decidedLate(life, dice);
    default:
      return [happening(trouble, life, dice)];
  }
}

/** An analyst changes his mind while the answer to the first poll is on its way. */
function secondThoughts({ policy }: Life, dice: Dice): Happening[] {
  const { firstMs } = policy.poll;
  const decide = { do: 'analyst', afterAnswer: true } as const;
  const decision = dice.pick<Decision>(['pass', 'fail', 'fraudulent']);
  const second = dice.pick<Decision>(decision === 'pass' ? ['fail', 'review'] : ['pass', 'review']);
  return [
    { do: 'fault', operation: 'status', nth: 1, fault: 'slow-answer', ms: dice.between(2_000, 9_000) },
    { ...decide, decision, webhook: 'lost', at: dice.between(0, firstMs - 100) },
    { ...decide, decision: second, webhook: 'sent', at: firstMs + dice.between(100, 2_000) },
  ];
}

/** The answer to a portal action is lost, and what is asked again is refused. */
function refusedAfterLost(dice: Dice): Happening[] {
  const kind = dice.pick(['cancel', 'report-fraud', 'customer-code'] as const);
  const operation = PORTAL_OPERATIONS[kind];
  const lost = dice.pick<FaultKind>(['5xx-after', 'reset-after', 'truncated', 'malformed']);
  const asks = { times: 1, id: 'fixed', afterAnswer: true } as const;
  const at = dice.between(0, 3_000);
  const withdrawn: Happening = { do: 'withdraw', number: 1, ...asks, at: at + dice.between(1_000, 60_000) };
  return [
    { do: 'portal', kind, named: 'none', variant: 1, force: false, ...asks, at },
    { do: 'fault', operation, nth: 1, fault: lost, ms: 0 },
    { do: 'fault', operation, nth: 2, fault: '403', ms: 0 },
    { do: 'fault', operation, nth: 3, fault: 'refused-in-body', ms: 0 },
    ...(dice.chance(0.5) ? [withdrawn] : []),
  ];
}

/** A reset makes the order forget two rescreens, and it continues as new before it screens again. */
function resetAndContinue({ policy }: Life, dice: Dice): Happening[] {
  const at = 2 * policy.rescreenOnError.pauseMs + dice.between(500, 4_000);
  return [
    { do: 'reset', toTask: dice.between(1, 3), at },
    { do: 'continue', afterTask: dice.between(2, 6), afterReset: true },
  ];
}

/** Analysts decide around the order's end, and after it. */
function decidedLate({ policy }: Life, dice: Dice): Happening[] {
  const { cancelWindowMs, reviewLimitMs } = policy;
  const end = dice.pick([cancelWindowMs, Math.max(cancelWindowMs, reviewLimitMs)]);
  const moment = (): number =>
    end + dice.between(-2_000, 20_000) + dice.pick([0, dice.anySize(1_000, 48 * HOUR)]);
  const decided = (): Happening => ({
    do: 'analyst',
    decision: dice.pick<Decision>(['pass', 'fail', 'fail', 'review', 'fraudulent', 'error']),
    webhook: dice.pick(['sent', 'sent', 'lost', 'doubled', 'late', 'forged']),
    ...(dice.chance(0.3) && { first: true as const }),
    at: moment(),
  });
  const asked = dice.pick([[], [{ do: 'recheck' as const, times: dice.pick([1, 3]), at: moment() }]]);
  const down = { do: 'receiver-down', at: moment(), ms: dice.anySize(100, 4 * HOUR) } as const;
  return [
    ...Array.from({ length: dice.between(1, 4) }, decided),
    ...asked,
    ...(dice.chance(0.3) ? [down] : []),
  ];
}

function happening(trouble: Exclude<Trouble, Composed>, life: Life, dice: Dice): Happening {
  switch (trouble) {
    case 'broken':
      return {
        do: 'broken',
        operation: dice.pick<Operation>([
          'create-transaction',
          'status',
          'status-by-invoice',
          'gateway-response',
          'cancel-transaction',
          'report-fraud',
        ]),
        fault: dice.pick(['5xx-before', '403']),
        at: dice.chance(0.5) ? 0 : someTime(life, dice),
      };
    case 'stall':
      return {
        do: 'stall',
        nth: dice.between(1, 6),
        reading: dice.between(1, 8),
        ms: dice.between(5_000, 60_000),
      };
    case 'wrong-clock': {
      const ms = dice.anySize(60_000, 6 * HOUR);
      return { do: 'skew', ms: dice.chance(0.5) ? ms : -ms };
    }
    case 'clock-set': {
      const ms = dice.anySize(1_000, 6 * HOUR);
      const at = someTime(life, dice);
      return {
        do: 'skew',
        ms: dice.chance(0.5) ? ms : -ms,
        ...(dice.chance(0.5) ? { from: at } : { until: at }),
      };
    }
    case 'no-integration':
    case 'no-key':
    case 'stash-down': {
      const at = dice.chance(0.5) ? dice.between(0, 3_000) : someTime(life, dice);
      return { do: trouble, at, ms: dice.anySize(100, dice.chance(0.2) ? 48 * HOUR : 300_000) };
    }
    case 'hints':
      return {
        do: 'hint',
        by: dice.pick(['update', 'signal']),
        named: dice.pick(['none', 'newest']),
        times: dice.pick([1, 3, 10, 40]),
        at: someTime(life, dice),
      };
  }
}

/** @returns rates with these kinds of trouble in every life */
export function always(troubles: readonly string[]): Rates {
  const rates = { ...RATES };
  for (const trouble of TROUBLES) if (troubles.includes(trouble)) rates[trouble] = 1_000;
  return rates;
}
