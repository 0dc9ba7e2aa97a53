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
  const nth = dice.pick([1, 1, 2, 2, 3, 4, 5, 6, 8, 10]);
  const ms = dice.anySize(10, 40_000);
  const loseTask = (): Liberty => {
    return { do: 'lose-task', nth, soon: dice.chance(0.6), zombie: dice.chance(0.4) };
  };
  const loseTry = (): Liberty => {
    return { do: 'lose-try', nth, how: dice.pick(['dies', 'zombie', 'end-lost', 'late-end']), ms };
  };
  const forget = (): Liberty => ({ do: 'forget', nth });
  const draw = dice.pick<() => Liberty>([
    loseTask,
    loseTask,
    loseTask,
    () => ({ do: 'late-task', nth, ms }),
    forget,
    forget,
    loseTry,
    loseTry,
    loseTry,
    () => ({ do: dice.chance(0.5) ? 'late-try' : 'early-try', nth, ms }),
    () => ({ do: 'lose-heartbeat', nth }),
    () => ({ do: 'late-timer', nth, ms }),
    () => ({ do: 'skew', ms: dice.between(-200, 200) }),
    () => ({ do: 'continue', afterTask: nth }),
    () => ({ do: 'reset', at: someTime(life, dice), toTask: nth - 1 }),
    () => (dice.chance(0.3) ? { do: 'break-down' } : forget()),
  ]);
  return draw();
}
