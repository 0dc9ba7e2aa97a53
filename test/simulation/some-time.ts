import type { Life } from './life.ts';
import type { Dice } from './random.ts';

/** @returns a moment of the order's life: any, or one near which something is due */
export function someTime({ policy }: Life, dice: Dice): number {
  const { cancelWindowMs, recheckLeadTimeMs, reviewLeadTimeMs, screeningDeadlineMs, reviewLimitMs } = policy;
  const due = dice.pick([
    cancelWindowMs - Math.min(30_000, cancelWindowMs / 100),
    cancelWindowMs,
    cancelWindowMs - recheckLeadTimeMs,
    cancelWindowMs - reviewLeadTimeMs,
    screeningDeadlineMs,
  ]);
  if (dice.chance(0.42)) return Math.max(0, due + dice.between(-2_000, 2_000));
  if (dice.chance(0.14)) return dice.between(0, Math.max(cancelWindowMs, reviewLimitMs) * 1.05);
  return dice.anySize(0, cancelWindowMs);
}
