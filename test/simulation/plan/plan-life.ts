/** Plans a life from its seed. */
import type { Decision } from '../../../src/contract/words.ts';
import { Dice, mixed } from '../random.ts';
import { adoptedOrNot } from './adopted-lives.ts';
import type { Happening } from './happenings.ts';
import type { Life } from './life.ts';
import { byHand, call } from './plan-people.ts';
import { liberty, ofTheWorld } from './plan-trouble.ts';
import { integrationNames, policyFor } from './policies.ts';
import { withRareTrouble } from './rare-trouble.ts';
import { someTime } from './some-time.ts';
import { variedLife } from './varied-life.ts';

/** An order service sends it once, and is told. */
const ONCE = { times: 1, id: 'fixed', afterAnswer: true } as const;

const [FIRST = 'default', ...OTHERS] = integrationNames();

/** @returns the life of this seed: what befalls it is drawn for each happening by itself */
export function planLife(seed: number, always: readonly string[] = []): Life {
  const dice = new Dice(mixed(seed, 0));
  const integration = dice.pick([FIRST, ...OTHERS]);
  const amount = dice.chance(0.03) ? 0.5 : dice.between(20, 200);
  const policy = policyFor(integration, amount);
  // A draw without a use: the lives of the seeds that are kept stay as they are.
  dice.number();
  const gateway = policy.workflow === 'pre-gateway';
  const first = firstDecision(dice);
  const life: Life = {
    seed,
    integration,
    policy,
    checkoutBudgetMs: dice.pick([1_500, 1_500, 7_000]),
    amount,
    wishes: [
      [first, ...(first === 'error' ? [firstDecision(dice), firstDecision(dice)] : [])],
      [dice.pick(['pass', 'pass', 'review', 'fail', 'error']), 'pass'],
      ['pass'],
    ],
    start: dice.pick(['update', 'update', 'update', 'fast', 'plain']),
    ...(dice.chance(0.15) && { answerByMs: dice.anySize(10, 9_000) }),
    card: gateway,
    happenings: [],
  };
  const count = dice.chance(0.15) ? dice.between(6, 16) : dice.between(0, 6);
  for (let index = 1; index <= count; index += 1) {
    life.happenings.push(happening(life, new Dice(mixed(seed, index))));
  }
  const usual = withWhatIsUsual(life, new Dice(mixed(seed, -1)));
  const adopted = adoptedOrNot(withEvents(usual, new Dice(mixed(seed, -2))));
  return withRareTrouble(variedLife(withOverride(adopted, new Dice(mixed(seed, -3)))), always);
}

/** Some order services receive events of changes only, or none. */
function withEvents(life: Life, dice: Dice): Life {
  if (dice.chance(0.7)) return life;
  if (dice.chance(0.1)) return { ...life, policy: { ...life.policy, events: false } };
  return { ...life, policy: { ...life.policy, events: 'changes' } };
}

function firstDecision(dice: Dice): Decision {
  const number = dice.number();
  if (number < 0.35) return 'pass';
  if (number < 0.7) return 'review';
  if (number < 0.82) return 'fail';
  return number < 0.9 ? 'fraudulent' : 'error';
}

/** Most orders before a payment hear of its end, most that are declined are tried again, most reviews are decided. */
function withWhatIsUsual(life: Life, dice: Dice): Life {
  const { happenings, policy, wishes } = life;
  if (policy.workflow === 'pre-gateway' && dice.chance(0.7)) {
    const result = dice.pick(['pass', 'pass', 'pass', 'fail', 'error']);
    happenings.push({ do: 'gateway-result', attempt: 1, result, at: dice.anySize(50, 10_000), ...ONCE });
    if (result === 'error' && dice.chance(0.7)) {
      const second = dice.pick(['pass', 'fail']);
      happenings.push({ do: 'gateway-result', attempt: 1, result: second, at: 12_000, ...ONCE });
    }
  }
  const first = wishes[0]?.[0];
  if ((first === 'fail' || first === 'fraudulent') && dice.chance(0.4)) {
    happenings.push({ do: 'retry', attempt: 2, content: 'same', at: dice.anySize(100, 11_000), ...ONCE });
  }
  if (first === 'review' && dice.chance(0.6)) {
    const decision = dice.pick(['pass', 'pass', 'fail', 'fraudulent']);
    const webhook = dice.pick(['sent', 'lost', 'doubled', 'late', 'forged']);
    const at = dice.anySize(500, Math.round(policy.cancelWindowMs * 1.05));
    happenings.push({ do: 'analyst', decision, webhook, at });
  }
  return life;
}

/** A person decides about many reviews and some other orders; another attempt may follow. */
function withOverride(life: Life, dice: Dice): Life {
  const { happenings, wishes } = life;
  if (!dice.chance(wishes[0]?.[0] === 'review' ? 0.3 : 0.1)) return life;
  const soon = dice.chance(0.7);
  happenings.push({
    do: 'override',
    action: dice.pick(['proceed', 'proceed', 'cancel']),
    times: dice.pick([1, 1, 2]),
    id: 'own',
    at: soon ? dice.anySize(0, 10_000) : someTime(life, dice),
    ...(soon && { afterAnswer: true as const }),
    ...(dice.chance(0.2) && { again: dice.anySize(1, 30_000) }),
  });
  if (dice.chance(0.3)) {
    happenings.push({ do: 'retry', attempt: 2, content: 'same', at: dice.anySize(5_000, 30_000), ...ONCE });
  }
  return life;
}

function happening(life: Life, dice: Dice): Happening {
  const number = dice.number();
  if (number < 0.34) return call(life, dice);
  if (number < 0.48) return byHand(life, dice);
  if (number < 0.72) return ofTheWorld(life, dice);
  return liberty(life, dice);
}
