/** Trouble that is rare: each kind befalls so many of a thousand lives, beside what their plans have. */
import type { Operation } from '../../books/books.ts';
import { Dice, mixed } from '../random.ts';
import { COMPOSED } from './composed-trouble.ts';
import type { Happening } from './happenings.ts';
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
  'decided-early': 30,
  'end-by-hand': 30,
  'found-beside': 20,
};
type Trouble = keyof typeof RATES;
type Composed = keyof typeof COMPOSED;
export type Rates = Readonly<Record<Trouble, number>>;
const TROUBLES = Object.keys(RATES).filter((name): name is Trouble => name in RATES);

const HOUR = 3_600_000;

/** @returns the life with the trouble that its seed draws, one kind at most */
export function withRareTrouble(life: Life, rates: Rates): Life {
  for (const [index, trouble] of TROUBLES.entries()) {
    const dice = new Dice(mixed(life.seed, -100 - index));
    if (dice.between(1, 1_000) > rates[trouble]) continue;
    const drawn = isComposed(trouble) ? COMPOSED[trouble](life, dice) : [happening(trouble, life, dice)];
    const [first = [], ...wishes] = life.wishes;
    return {
      ...life,
      ...(trouble === 'reset-and-continue' && { wishes: [['error', 'error', 'pass'], ...wishes] }),
      ...(trouble === 'found-beside' && { wishes: [['error', ...first], ...wishes] }),
      happenings: [...life.happenings, ...drawn],
    };
  }
  return life;
}

function isComposed(trouble: Trouble): trouble is Composed {
  return trouble in COMPOSED;
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
  }
}

/** @returns rates with these kinds of trouble in every life */
export function always(troubles: readonly string[]): Rates {
  const rates = { ...RATES };
  for (const trouble of TROUBLES) if (troubles.includes(trouble)) rates[trouble] = 1_000;
  return rates;
}
