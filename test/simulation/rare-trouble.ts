/** Trouble that is rare: one life in five has some, beside the rest of its plan. */
import type { Decision } from '../../src/contract/words.ts';
import { PORTAL_OPERATIONS } from '../books/books.ts';
import type { Happening } from './happenings.ts';
import type { Life } from './life.ts';
import type { Dice } from './random.ts';
import { someTime } from './some-time.ts';

const HOUR = 3_600_000;

export function rareTrouble(life: Life, dice: Dice): Happening[] {
  const planned = dice.pick([
    broken,
    stall,
    wrongClock,
    missing,
    missing,
    hints,
    secondThoughts,
    refusedAfterLost,
    resetAndContinue,
  ]);
  return dice.chance(0.22) ? planned(life, dice) : [];
}

function broken(life: Life, dice: Dice): Happening[] {
  const operation = dice.pick([
    'create-transaction',
    'status',
    'status-by-invoice',
    'gateway-response',
    'cancel-transaction',
    'report-fraud',
  ]);
  const at = dice.chance(0.5) ? 0 : someTime(life, dice);
  return [{ do: 'broken', operation, fault: dice.pick(['5xx-before', '403']), at }];
}

function stall(_life: Life, dice: Dice): Happening[] {
  const ms = dice.between(5_000, 60_000);
  return [{ do: 'stall', nth: dice.between(1, 6), reading: dice.between(1, 8), ms }];
}

function wrongClock(_life: Life, dice: Dice): Happening[] {
  const ms = dice.anySize(60_000, 6 * HOUR);
  return [{ do: 'skew', ms: dice.chance(0.5) ? ms : -ms }];
}

function missing(life: Life, dice: Dice): Happening[] {
  const at = dice.chance(0.5) ? dice.between(0, 3_000) : someTime(life, dice);
  const ms = dice.anySize(100, dice.chance(0.2) ? 12 * HOUR : 300_000);
  return [{ do: dice.pick(['no-integration', 'no-key']), at, ms }];
}

function hints(life: Life, dice: Dice): Happening[] {
  const times = dice.pick([1, 3, 10, 40]);
  return [{ do: 'hint', named: dice.pick(['none', 'newest']), times, at: someTime(life, dice) }];
}

/** An analyst changes his mind while the answer to the first poll is on its way. */
function secondThoughts({ policy: { poll } }: Life, dice: Dice): Happening[] {
  const decide = { do: 'analyst', afterAnswer: true } as const;
  const decision = dice.pick(['pass', 'fail', 'fraudulent']);
  const second = dice.pick<Decision>([decision === 'pass' ? 'fail' : 'pass', 'review']);
  return [
    { do: 'fault', operation: 'status', nth: 1, fault: 'slow-answer', ms: dice.between(2_000, 9_000) },
    { ...decide, decision, webhook: 'lost', at: dice.between(0, poll.firstMs - 100) },
    { ...decide, decision: second, webhook: 'sent', at: poll.firstMs + dice.between(100, 2_000) },
  ];
}

/** The answer to a portal action is lost, and the action is refused when it is sent again. */
function refusedAfterLost(_life: Life, dice: Dice): Happening[] {
  const kind = dice.pick(['cancel', 'report-fraud', 'customer-code']);
  const operation = PORTAL_OPERATIONS[kind];
  const lost = dice.pick(['5xx-after', 'reset-after', 'truncated', 'malformed']);
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
function resetAndContinue(life: Life, dice: Dice): Happening[] {
  life.wishes[0] = ['error', 'error', 'pass'];
  const at = 2 * life.policy.rescreenOnError.pauseMs + dice.between(500, 4_000);
  return [
    { do: 'reset', toTask: dice.between(1, 3), at },
    { do: 'continue', afterTask: dice.between(2, 6), afterReset: true },
  ];
}
