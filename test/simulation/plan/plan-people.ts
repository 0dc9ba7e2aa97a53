/** Plans what order services, order desks, analysts and operators do. */
import type { PortalActionKind } from '../../../src/contract/portal/portal-kinds.ts';
import type { Dice } from '../random.ts';
import type { ByHand, Call, Sent } from './happenings.ts';
import type { Life } from './life.ts';
import { someTime } from './some-time.ts';

const NAMED = ['none', 'none', 'none', 'newest', 'first', 'another'] as const;

function when(life: Life, dice: Dice): { at: number; afterAnswer?: true } {
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
  switch (dice.between(0, 9)) {
    case 0:
    case 1:
      return { do: 'decision', attempt: dice.pick([1, 1, 1, 2]), content, ...sent };
    case 2:
      return { do: 'retry', attempt: dice.pick([2, 2, 2, 3]), content, ...sent };
    case 3: {
      const attempt = dice.pick([1, 1, 2, undefined]);
      const result = dice.pick(['pass', 'pass', 'fail', 'error']);
      return { do: 'gateway-result', result, ...(attempt !== undefined && { attempt }), ...sent };
    }
    case 4:
      return { do: 'withdraw', number: dice.pick([1, 1, 2]), ...sent };
    case 5:
      // No dice: the lives of the seeds that are kept stay as they are, but for a few acknowledgements.
      return handling(sent);
    case 6:
      return portal('cancel', dice, { ...sent, ...(dice.chance(0.1) && { times: 12, id: 'own' as const }) });
    case 7:
      return portal('cancel', dice, sent);
    default:
      return portal(dice.pick(['report-fraud', 'chargeback', 'customer-code']), dice, sent);
  }
}

function handling(sent: Sent): Call {
  const [which, ms] = [sent.at % 5, (sent.at % 97) * 3_600_000];
  if (which === 0) return { do: 'snooze', ms, ...sent };
  return { do: which === 1 ? 'note' : which === 2 ? 'assign' : 'acknowledge', ...sent };
}

function portal(kind: PortalActionKind, dice: Dice, sent: Sent): Call {
  return {
    do: 'portal',
    kind,
    named: dice.pick(NAMED),
    variant: dice.pick([1, 1, 2]),
    force: dice.chance(0.15),
    ...sent,
  };
}

export function byHand(life: Life, dice: Dice): ByHand {
  const { at } = when(life, dice);
  switch (dice.between(0, 6)) {
    case 0:
      return { do: 'recheck', at, times: dice.pick([1, 1, 3]) };
    case 1:
      return { do: 'cancellation', at, times: 1 };
    case 2:
    case 3:
      return {
        do: 'analyst',
        at,
        decision: dice.pick(['pass', 'fail', 'fail', 'review', 'fraudulent', 'error']),
        webhook: dice.pick(['sent', 'lost', 'doubled', 'late', 'forged']),
      };
    default:
      return {
        do: 'hint',
        at,
        by: dice.pick(['update', 'signal']),
        named: dice.pick(NAMED),
        times: dice.pick([1, 1, 2, 10]),
      };
  }
}
