/** Plans what goes wrong: with the service, the receiver, the workers, and what Temporal is free to do. */
import type { Operation } from '../../books/books.ts';
import type { Dice } from '../random.ts';
import type { FaultKind, Liberty, OfTheWorld } from './happenings.ts';
import type { Life } from './life.ts';
import { someTime } from './some-time.ts';

const ANY: [FaultKind, ...FaultKind[]] = [
  'delay',
  'hang-before',
  'hang-after',
  'late',
  '5xx-before',
  '5xx-after',
  '5xx-late',
  'reset-before',
  'reset-after',
  'truncated',
  'malformed',
  '429',
  '403',
  'page-404',
];
const OF_A_DECISION: [FaultKind, ...FaultKind[]] = [...ANY, 'unknown-decision', 'without-id'];
const OF_THE_PORTAL: [FaultKind, ...FaultKind[]] = [...ANY, 'refused-in-body', 'refused-in-body'];

function faultOf(operation: Operation, dice: Dice): FaultKind {
  switch (operation) {
    case 'create-transaction':
      // What comes late is the hard part of it.
      return dice.chance(0.4) ? dice.pick(['late', '5xx-late', 'hang-after']) : dice.pick(OF_A_DECISION);
    case 'status':
    case 'status-by-invoice':
      return dice.pick(OF_A_DECISION);
    case 'gateway-response':
      return dice.pick(ANY);
    default:
      return dice.pick(OF_THE_PORTAL);
  }
}

export function ofTheWorld(life: Life, dice: Dice): OfTheWorld {
  if (dice.chance(0.7)) {
    const operation = dice.pick<Operation>([
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
    ]);
    const nth = dice.pick([1, 1, 1, 2, 2, 3]);
    return { do: 'fault', operation, nth, fault: faultOf(operation, dice), ms: dice.between(0, 20_000) };
  }
  const at = dice.chance(0.4) ? dice.between(0, 3_000) : someTime(life, dice);
  const ms = dice.anySize(100, dice.chance(0.2) ? 5 * 24 * 3_600_000 : 300_000);
  const what = dice.pick([
    'outage',
    'outage',
    'outage',
    'wrong-key',
    'wrong-key',
    'slow',
    'uncovered',
    'receiver-down',
    'workers-away',
    'workers-away',
  ]);
  if (what === 'uncovered') return { do: what, at };
  return { do: what, at, ms: what === 'workers-away' ? Math.min(ms, 600_000) : ms };
}

export function liberty(life: Life, dice: Dice): Liberty {
  const early = dice.pick([1, 1, 2, 2, 3, 4, 5, 6, 8, 10]);
  const ms = dice.anySize(10, 40_000);
  switch (dice.between(0, 15)) {
    case 0:
    case 1:
    case 2:
      return { do: 'lose-task', nth: early, soon: dice.chance(0.6), zombie: dice.chance(0.4) };
    case 3:
      return { do: 'late-task', nth: early, ms };
    case 4:
    case 5:
      return { do: 'forget', nth: early };
    case 6:
    case 7:
    case 8:
      return { do: 'lose-try', nth: early, how: dice.pick(['dies', 'zombie', 'end-lost', 'late-end']), ms };
    case 9:
      return { do: dice.chance(0.5) ? 'late-try' : 'early-try', nth: early, ms };
    case 10:
      return { do: 'lose-heartbeat', nth: early };
    case 11:
      return { do: 'late-timer', nth: early, ms };
    case 12:
      return { do: 'skew', ms: dice.between(-200, 200) };
    case 13:
      return { do: 'continue', afterTask: early };
    case 14:
      return { do: 'reset', at: someTime(life, dice), toTask: early - 1 };
    default:
      return dice.chance(0.3) ? { do: 'break-down' } : { do: 'forget', nth: early };
  }
}
