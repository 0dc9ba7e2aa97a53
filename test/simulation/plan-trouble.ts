/** Plans what goes wrong: with the service, the receiver, the workers, and what Temporal is free to do. */
import type { Operation } from '../books/books.ts';
import { FAULTS, type FaultKind, type Liberty, type OfTheWorld } from './happenings.ts';
import type { Life } from './life.ts';
import type { Dice } from './random.ts';
import { someTime } from './some-time.ts';

const OPERATIONS = [
  'create-transaction',
  'create-transaction',
  'create-transaction',
  'status',
  'status-by-invoice',
  'cancel-transaction',
  'cancel-transaction',
  'gateway-response',
  'report-fraud',
  'submit-chargeback',
  'customer-code',
] as const;

function faultOf(operation: Operation, dice: Dice): FaultKind {
  switch (operation) {
    case 'create-transaction':
      // Creates that arrive late are the hard part.
      if (dice.chance(0.4)) return dice.pick(['late', '5xx-late', 'hang-after']);
      return dice.pick([...FAULTS, 'unknown-decision', 'without-id']);
    case 'status':
    case 'status-by-invoice':
      return dice.pick([...FAULTS, 'unknown-decision', 'without-id']);
    case 'gateway-response':
      return dice.pick(FAULTS);
    default:
      return dice.pick([...FAULTS, 'refused-in-body', 'refused-in-body']);
  }
}

export function ofTheWorld(life: Life, dice: Dice): OfTheWorld {
  if (dice.chance(0.7)) {
    const operation = dice.pick(OPERATIONS);
    const nth = dice.pick([1, 1, 1, 2, 2, 3]);
    return { do: 'fault', operation, nth, fault: faultOf(operation, dice), ms: dice.between(0, 20_000) };
  }
  const at = dice.chance(0.4) ? dice.between(0, 3_000) : someTime(life, dice);
  const ms = dice.anySize(100, dice.chance(0.2) ? 12 * 3_600_000 : 300_000);
  const what = dice.pick([
    'outage',
    'outage',
    'wrong-key',
    'wrong-key',
    'slow',
    'receiver-down',
    'workers-away',
  ]);
  return { do: what, at, ms: what === 'workers-away' ? Math.min(ms, 600_000) : ms };
}

const LOSSES = ['lose-task', 'lose-try', 'forget'] as const;
const LIBERTIES = [
  'late-task',
  'late-try',
  'early-try',
  'lose-heartbeat',
  'late-timer',
  'skew',
  'continue',
  'reset',
  'break-down',
] as const;

export function liberty(life: Life, dice: Dice): Liberty {
  const nth = dice.pick([1, 1, 2, 2, 3, 4, 5, 6, 8, 10]);
  const ms = dice.anySize(10, 40_000);
  const what = dice.chance(0.5) ? dice.pick(LOSSES) : dice.pick(LIBERTIES);
  switch (what) {
    case 'lose-task':
      return { do: what, nth, soon: dice.chance(0.6), zombie: dice.chance(0.4) };
    case 'lose-try':
      return { do: what, nth, how: dice.pick(['dies', 'zombie', 'end-lost', 'late-end']), ms };
    case 'skew':
      return { do: what, ms: dice.between(-200, 200) };
    case 'continue':
      return { do: what, afterTask: nth };
    case 'reset':
      return { do: what, at: someTime(life, dice), toTask: nth - 1 };
    case 'break-down':
      return dice.chance(0.3) ? { do: what } : { do: 'forget', nth };
    default:
      return { do: what, nth, ms };
  }
}
