import type { Dice } from '../random.ts';
import type { Life } from './life.ts';

/** @returns a moment of the order's life: soon, some time, or where something is due */
export function someTime({ policy }: Life, dice: Dice): number {
  const { cancelWindowMs, recheckLeadTimeMs, reviewLeadTimeMs, screeningDeadlineMs, reviewLimitMs } = policy;
  const near = dice.between(-2_000, 2_000);
  const stretch = Math.min(30_000, cancelWindowMs / 100);
  switch (dice.between(0, 11)) {
    case 0:
      return Math.max(0, cancelWindowMs - stretch + near);
    case 1:
      return Math.max(0, cancelWindowMs + near);
    case 2:
      return Math.max(0, cancelWindowMs - recheckLeadTimeMs + near);
    case 3:
      return Math.max(0, cancelWindowMs - reviewLeadTimeMs + near);
    case 4:
      return Math.max(0, screeningDeadlineMs + near);
    case 5:
      return dice.between(0, Math.round(Math.max(cancelWindowMs, reviewLimitMs) * 1.05));
    default:
      return dice.anySize(0, cancelWindowMs);
  }
}
