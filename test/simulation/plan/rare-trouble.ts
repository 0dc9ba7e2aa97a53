/** Trouble that is rare: each kind befalls so many of a thousand lives, beside what their plans have. */
import type { Decision } from '../../../src/contract/words.ts';
import { type Operation, PORTAL_OPERATIONS } from '../../books/books.ts';
import { HOUR } from '../../fixtures/policies.ts';
import { Dice, mixed } from '../random.ts';
import type { FaultKind, Happening, Lasting } from './happenings.ts';
import type { Life } from './life.ts';
import { someTime } from './some-time.ts';

const BREAKABLE = [
  'create-transaction',
  'status',
  'status-by-invoice',
  'gateway-response',
  'cancel-transaction',
  'report-fraud',
] as const satisfies Operation[];

function brokenFrom(life: Life, dice: Dice): Happening[] {
  const operation = dice.pick(BREAKABLE);
  const fault = dice.pick(['5xx-before', '403']);
  return [{ do: 'broken', operation, fault, at: dice.chance(0.5) ? 0 : someTime(life, dice) }];
}

function stall(_life: Life, dice: Dice): Happening[] {
  const [nth, reading] = [dice.between(1, 6), dice.between(1, 8)];
  return [{ do: 'stall', nth, reading, ms: dice.between(5_000, 60_000) }];
}

function wrongClock(_life: Life, dice: Dice): Happening[] {
  const ms = dice.anySize(60_000, 6 * HOUR);
  return [{ do: 'skew', ms: dice.chance(0.5) ? ms : -ms }];
}

function clockSet(life: Life, dice: Dice): Happening[] {
  const most = dice.anySize(1_000, 6 * HOUR);
  const at = someTime(life, dice);
  const ms = dice.chance(0.5) ? most : -most;
  return [{ do: 'skew', ms, ...(dice.chance(0.5) ? { from: at } : { until: at }) }];
}

function lacking(what: Lasting) {
  return (life: Life, dice: Dice): Happening[] => {
    const at = dice.chance(0.5) ? dice.between(0, 3_000) : someTime(life, dice);
    return [{ do: what, at, ms: dice.anySize(100, dice.chance(0.2) ? 48 * HOUR : 300_000) }];
  };
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

/** The answer to a portal action is lost, and what is asked again is refused, or needs another key. */
function refusedAfterLost(_life: Life, dice: Dice): Happening[] {
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
    { do: 'fault', operation, nth: 3, fault: dice.pick(['refused-in-body', '403']), ms: 0 },
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

/**
 * A screening returns `error`, the answer to the next one is lost, and nothing finds its transaction until an analyst has decided the first
 * one.
 */
function foundBeside({ policy }: Life, dice: Dice): Happening[] {
  const { screeningDeadlineMs, cancelWindowMs } = policy;
  const end = screeningDeadlineMs + dice.anySize(100, Math.max(1_000, cancelWindowMs - screeningDeadlineMs));
  const lost = dice.pick<FaultKind>(['5xx-after', 'reset-after', 'hang-after', 'late']);
  return [
    { do: 'fault', operation: 'create-transaction', nth: 2, fault: lost, ms: dice.between(0, 20_000) },
    { do: 'broken', operation: 'status-by-invoice', fault: '5xx-before', at: 0, ms: end },
    {
      do: 'analyst',
      first: true,
      decision: dice.pick<Decision>(['pass', 'pass', 'review', 'fail']),
      webhook: 'sent',
      at: dice.between(screeningDeadlineMs, end),
    },
  ];
}

/** An analyst decides, and the webhook comes, before the answer to the create. */
function decidedEarly(_life: Life, dice: Dice): Happening[] {
  const ms = dice.between(300, 8_000);
  const decision = dice.pick<Decision>(['pass', 'fail', 'review', 'fraudulent']);
  return [
    { do: 'fault', operation: 'create-transaction', nth: 1, fault: 'slow-answer', ms },
    { do: 'analyst', decision, webhook: 'sent', at: dice.between(50, ms) },
  ];
}

/** Webhooks come in a flood, at once or one after another. */
function hints(life: Life, dice: Dice): Happening[] {
  const at = someTime(life, dice);
  const everyMs = dice.between(1, 500);
  const hint = {
    do: 'hint',
    by: dice.pick(['update', 'signal']),
    named: dice.pick(['none', 'newest']),
  } as const;
  const times = dice.pick([1, 3, 10, 40]);
  if (dice.chance(0.5)) return [{ ...hint, times, at }];
  return Array.from({ length: times }, (_, index) => ({ ...hint, times: 1, at: at + index * everyMs }));
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

/** An operator fails a call in Temporal, perhaps a portal action that is done and not answered yet. */
function endedByHand(_life: Life, dice: Dice): Happening[] {
  const anyCall: Happening = { do: 'end-by-hand', nth: dice.between(1, 8), ms: dice.anySize(1, 3_000) };
  if (dice.chance(0.5)) return [anyCall];
  const kind = dice.pick(['cancel', 'report-fraud', 'customer-code', 'chargeback'] as const);
  const operation = PORTAL_OPERATIONS[kind];
  const asks = { times: 1, id: 'fixed', afterAnswer: true, at: dice.between(0, 3_000) } as const;
  return [
    { ...anyCall, nth: dice.between(1, 4), ms: dice.between(20, 1_500) },
    { do: 'portal', kind, named: 'none', variant: 1, force: false, ...asks },
    { do: 'fault', operation, nth: 1, fault: 'slow-answer', ms: dice.between(1_500, 9_000) },
  ];
}

/** A cancel that hangs is withdrawn, and canceled again before it is known how it ended. */
function askedWhileWithdrawn(_life: Life, dice: Dice): Happening[] {
  const at = dice.between(0, 3_000);
  const withdrawnAt = at + dice.between(1_500, 6_000);
  const asks = { times: 1, afterAnswer: true } as const;
  const cancel = { do: 'portal', kind: 'cancel', named: 'none', variant: 1, force: false, ...asks } as const;
  const fault = dice.pick<FaultKind>(['hang-before', 'hang-after', 'slow-answer', '5xx-before']);
  return [
    { ...cancel, id: 'fixed', at },
    { do: 'fault', operation: 'cancel-transaction', nth: 1, fault, ms: dice.between(5_000, 20_000) },
    { do: 'withdraw', number: 1, ...asks, id: 'fixed', at: withdrawnAt },
    { ...cancel, id: 'own', at: withdrawnAt + dice.between(1_500, 15_000) },
  ];
}

/** A person overrides the action while the cancel fails, and perhaps withdraws a different portal action. */
function overriddenCancel(_life: Life, dice: Dice): Happening[] {
  const at = dice.between(0, 3_000);
  const asks = { times: 1, id: 'own', afterAnswer: true } as const;
  const portal = { do: 'portal', named: 'none', variant: 1, force: false, ...asks } as const;
  const fault = dice.pick<FaultKind>(['hang-before', '5xx-before', 'page-404', '429']);
  const failed = dice.between(1, 4);
  const overridden = at + dice.anySize(100, 30_000);
  return [
    { ...portal, kind: 'cancel', at },
    { ...portal, kind: 'report-fraud', at: at + dice.between(0, 300) },
    ...Array.from({ length: failed }, (_, index) => {
      return { do: 'fault', operation: 'cancel-transaction', nth: index + 1, fault, ms: 2_000 } as const;
    }),
    { do: 'override', action: dice.pick(['proceed', 'cancel']), ...asks, at: overridden },
    ...(dice.chance(0.5) ? [{ do: 'withdraw' as const, number: 2, ...asks, at: overridden + 100 }] : []),
  ];
}

/** What befalls a life, and how many of a thousand. Each is drawn by its position: a new one comes last. */
const TROUBLES = {
  broken: { rate: 30, plan: brokenFrom },
  stall: { rate: 30, plan: stall },
  'wrong-clock': { rate: 30, plan: wrongClock },
  'no-integration': { rate: 15, plan: lacking('no-integration') },
  'no-key': { rate: 15, plan: lacking('no-key') },
  'stash-down': { rate: 20, plan: lacking('stash-down') },
  hints: { rate: 30, plan: hints },
  'second-thoughts': { rate: 30, plan: secondThoughts },
  'refused-after-lost': { rate: 20, plan: refusedAfterLost },
  'reset-and-continue': { rate: 20, plan: resetAndContinue },
  'clock-set': { rate: 20, plan: clockSet },
  'decided-late': { rate: 60, plan: decidedLate },
  'decided-early': { rate: 30, plan: decidedEarly },
  'end-by-hand': { rate: 30, plan: endedByHand },
  'found-beside': { rate: 20, plan: foundBeside },
  'asked-while-withdrawn': { rate: 5, plan: askedWhileWithdrawn },
  'overridden-cancel': { rate: 5, plan: overriddenCancel },
} satisfies Record<string, { rate: number; plan: (life: Life, dice: Dice) => Happening[] }>;

/**
 * @param always kinds of trouble that befall each life
 * @returns the life with the trouble that its seed draws, one kind at most
 */
export function withRareTrouble(life: Life, always: readonly string[]): Life {
  for (const [index, [trouble, { rate, plan }]] of Object.entries(TROUBLES).entries()) {
    const dice = new Dice(mixed(life.seed, -100 - index));
    if (dice.between(1, 1_000) > (always.includes(trouble) ? 1_000 : rate)) continue;
    const [first = [], ...wishes] = life.wishes;
    return {
      ...life,
      ...(trouble === 'reset-and-continue' && { wishes: [['error', 'error', 'pass'], ...wishes] }),
      ...(trouble === 'found-beside' && { wishes: [['error', ...first], ...wishes] }),
      happenings: [...life.happenings, ...plan(life, dice)],
    };
  }
  return life;
}
