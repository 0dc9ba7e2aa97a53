/** Plans what order services, order desks, analysts and operators do. */
import type { ByHand, Call, When } from './happenings.ts';
import type { Life } from './life.ts';
import type { Dice } from './random.ts';
import { someTime } from './some-time.ts';

const NAMED = ['none', 'none', 'none', 'newest', 'first', 'another'] as const;

function when(life: Life, dice: Dice): When {
  if (dice.chance(0.5)) return { at: dice.anySize(0, 20_000), afterAnswer: true };
  return { at: someTime(life, dice) };
}

export function call(life: Life, dice: Dice): Call {
  const sent = {
    ...when(life, dice),
    times: dice.pick([1, 1, 1, 3]),
    id: dice.pick(['fixed', 'own']),
    ...(dice.chance(0.25) && { again: dice.anySize(1, 30_000) }),
  };
  const content = dice.pick(['same', 'same', 'unsaid', 'other']);
  const kind = dice.pick(['cancel', 'cancel', 'report-fraud', 'chargeback', 'customer-code']);
  const what = dice.pick([
    'decision',
    'decision',
    'retry',
    'gateway-result',
    'withdraw',
    'acknowledge',
    'portal',
  ]);
  switch (what) {
    case 'decision':
      return { do: what, attempt: dice.pick([1, 1, 1, 2]), content, ...sent };
    case 'retry':
      return { do: what, attempt: dice.pick([2, 2, 2, 3]), content, ...sent };
    case 'gateway-result': {
      const attempt = dice.pick([1, 1, 2, undefined]);
      const result = dice.pick(['pass', 'pass', 'fail', 'error']);
      return { do: what, result, ...(attempt !== undefined && { attempt }), ...sent };
    }
    case 'withdraw':
      return { do: what, number: dice.pick([1, 1, 2]), ...sent };
    case 'acknowledge':
      return { do: what, ...sent };
    case 'portal':
      return {
        do: what,
        kind,
        named: dice.pick(NAMED),
        variant: dice.pick([1, 1, 2]),
        force: dice.chance(0.15),
        ...sent,
        // More than Temporal takes at once.
        ...(dice.chance(0.03) && { times: 12, id: 'own' as const }),
      };
  }
}

export function byHand(life: Life, dice: Dice): ByHand {
  const { at } = when(life, dice);
  const what = dice.pick(['recheck', 'cancellation', 'analyst', 'analyst', 'hint', 'hint', 'hint']);
  switch (what) {
    case 'recheck':
      return { do: what, at, times: dice.pick([1, 1, 3]) };
    case 'cancellation':
      return { do: what, at, times: 1 };
    case 'analyst': {
      const decision = dice.pick(['pass', 'fail', 'fail', 'review', 'fraudulent', 'error']);
      return { do: what, at, decision, webhook: dice.pick(['sent', 'lost', 'doubled', 'late', 'forged']) };
    }
    case 'hint':
      return { do: what, at, named: dice.pick(NAMED), times: dice.pick([1, 1, 2, 10]) };
  }
}
