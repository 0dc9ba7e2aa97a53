/** Plans a life from its seed. */
import type { Decision } from '../../src/contract/words.ts';
import { adoptedOrNot } from './adopted-lives.ts';
import type { Happening } from './happenings.ts';
import type { Life } from './life.ts';
import { byHand, call } from './plan-people.ts';
import { liberty, ofTheWorld } from './plan-trouble.ts';
import { drawPolicy, SKIP_BELOW } from './policies.ts';
import { Dice, mixed } from './random.ts';
import { rareTrouble } from './rare-trouble.ts';
import { someTime } from './some-time.ts';

export function planLife(seed: number): Life {
  const dice = new Dice(mixed(seed, 0));
  const policy = drawPolicy(dice);
  const amount = dice.chance(0.03) ? SKIP_BELOW / 2 : dice.between(20, 200);
  const first = firstDecision(dice);
  const life: Life = {
    seed,
    policy,
    checkoutBudgetMs: dice.pick([1_500, 1_500, 7_000]),
    amount,
    laterAmount: dice.chance(0.15) ? SKIP_BELOW / 2 : amount,
    wishes: [
      [first, ...(first === 'error' ? [firstDecision(dice), firstDecision(dice)] : [])],
      [dice.pick(['pass', 'pass', 'review', 'fail', 'error']), 'pass'],
      ['pass'],
    ],
    start: dice.pick(['update', 'update', 'update', 'update', 'plain']),
    ...(dice.chance(0.15) && { answerByMs: dice.anySize(10, 9_000) }),
    card: policy.workflow === 'pre-gateway',
    happenings: [],
  };
  // Who wants to hear only of changes says until when he waits, as the client library does.
  if (policy.events !== 'all' && life.start !== 'plain') life.answerByMs ??= life.checkoutBudgetMs + 2_000;
  const count = dice.chance(0.15) ? dice.between(6, 16) : dice.between(0, 6);
  for (let index = 1; index <= count; index += 1) life.happenings.push(happening(life, dice));
  life.happenings.push(
    ...usual(life, dice),
    ...override(life, dice),
    ...replacedResult(life, dice),
    ...rareTrouble(life, dice),
  );
  return adoptedOrNot(life, dice);
}

function firstDecision(dice: Dice): Decision {
  const number = dice.number();
  if (number < 0.35) return 'pass';
  if (number < 0.7) return 'review';
  if (number < 0.82) return 'fail';
  return number < 0.9 ? 'fraudulent' : 'error';
}

function happening(life: Life, dice: Dice): Happening {
  const number = dice.number();
  if (number < 0.34) return call(life, dice);
  if (number < 0.48) return byHand(life, dice);
  if (number < 0.72) return ofTheWorld(life, dice);
  return liberty(life, dice);
}

const ONCE = { times: 1, id: 'fixed', afterAnswer: true } as const;

/** Most orders before a payment hear of its end, most that are declined are tried again, most reviews are decided. */
function usual({ policy, wishes }: Life, dice: Dice): Happening[] {
  const found: Happening[] = [];
  if (policy.workflow === 'pre-gateway' && dice.chance(0.7)) {
    const sent = { do: 'gateway-result', attempt: 1, ...ONCE } as const;
    const result = dice.pick(['pass', 'pass', 'pass', 'fail', 'error']);
    found.push({ ...sent, result, at: dice.anySize(50, 10_000) });
    if (result === 'error' && dice.chance(0.7))
      found.push({ ...sent, result: dice.pick(['pass', 'fail']), at: 12_000 });
  }
  const first = wishes[0]?.[0];
  if ((first === 'fail' || first === 'fraudulent') && dice.chance(0.4))
    found.push({ do: 'retry', attempt: 2, content: 'same', ...ONCE, at: dice.anySize(100, 11_000) });
  if (first === 'review' && dice.chance(0.6)) {
    const decision = dice.pick(['pass', 'pass', 'fail', 'fraudulent']);
    const webhook = dice.pick(['sent', 'lost', 'doubled', 'late', 'forged']);
    found.push({ do: 'analyst', decision, webhook, at: dice.anySize(500, policy.cancelWindowMs * 1.05) });
  }
  return found;
}

/** A person decides about many reviews and some other orders; another attempt may follow. */
function override(life: Life, dice: Dice): Happening[] {
  if (!dice.chance(life.wishes[0]?.[0] === 'review' ? 0.3 : 0.1)) return [];
  const soon = dice.chance(0.7) && ({ afterAnswer: true, at: dice.anySize(0, 10_000) } as const);
  const decided: Happening = {
    do: 'override',
    action: dice.pick(['proceed', 'proceed', 'cancel']),
    times: dice.pick([1, 1, 2]),
    id: 'own',
    ...(soon || { at: someTime(life, dice) }),
    ...(dice.chance(0.2) && { again: dice.anySize(1, 30_000) }),
  };
  if (!dice.chance(0.3)) return [decided];
  return [decided, { do: 'retry', attempt: 2, content: 'same', ...ONCE, at: dice.anySize(5_000, 30_000) }];
}

/** A result of the payment gateway is replaced while it is being sent. */
function replacedResult({ policy }: Life, dice: Dice): Happening[] {
  if (policy.workflow !== 'pre-gateway' || !dice.chance(0.1)) return [];
  const sent = { do: 'gateway-result', attempt: 1, ...ONCE, id: 'own' } as const;
  const at = dice.between(10, 2_000);
  return [
    { do: 'fault', operation: 'gateway-response', nth: 1, fault: 'delay', ms: dice.between(500, 4_000) },
    { ...sent, result: 'error', at },
    { ...sent, result: 'pass', at: at + dice.between(20, 1_000) },
  ];
}
