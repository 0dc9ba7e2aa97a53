/** Trouble that is rare: each kind befalls so many of a thousand lives, beside what their plans have. */
import type { Operation } from '../books/books.ts';
import type { Happening } from './happenings.ts';
import type { Life } from './life.ts';
import { Dice, mixed } from './random.ts';
import { someTime } from './some-time.ts';

/** The judge doesn't know the kinds at 0 yet. */
export const RATES = {
  broken: 30,
  stall: 30,
  'wrong-clock': 30,
  'no-integration': 0,
  'no-key': 0,
  'stash-down': 20,
  hints: 30,
  'early-and-fast': 20,
};
type Trouble = keyof typeof RATES;
export type Rates = Readonly<Record<Trouble, number>>;
const TROUBLES = Object.keys(RATES).filter((name): name is Trouble => name in RATES);

const HOUR = 3_600_000;

/** @returns the life with the trouble that its seed draws, one kind at most */
export function withRareTrouble(life: Life, rates: Rates): Life {
  const drawn: Happening[] = [];
  for (const [index, trouble] of TROUBLES.entries()) {
    const dice = new Dice(mixed(life.seed, -100 - index));
    if (dice.between(1, 1_000) <= rates[trouble] && drawn.length === 0)
      drawn.push(happening(trouble, life, dice));
  }
  return { ...life, happenings: [...life.happenings, ...drawn] };
}

function happening(trouble: Trouble, life: Life, dice: Dice): Happening {
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
    case 'early-and-fast':
      return { do: 'early-try', nth: dice.between(1, 4), ms: dice.anySize(10, 40_000) };
    case 'wrong-clock': {
      const ms = dice.anySize(60_000, 6 * HOUR);
      return { do: 'skew', ms: dice.chance(0.5) ? ms : -ms };
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
