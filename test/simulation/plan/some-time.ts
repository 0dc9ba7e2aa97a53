import type { Dice } from '../random.ts';
import type { Life } from './life.ts';

/** @returns a moment of the order's life: soon, some time, or where something is due */
export function someTime({ policy }: Life, dice: Dice): number {
  const { cancelWindowMs, recheckLeadTimeMs, reviewLeadTimeMs, screeningDeadlineMs, reviewLimitMs } = policy;
  const stretch = Math.min(30_000, cancelWindowMs / 100);
  const due = [
    cancelWindowMs - stretch,
    cancelWindowMs,
    cancelWindowMs - recheckLeadTimeMs,
    cancelWindowMs - reviewLeadTimeMs,
    screeningDeadlineMs,
  ];
  const near = dice.between(-2_000, 2_000);
  const which = dice.between(0, 11);
  const moment = due[which];
  if (moment !== undefined) return Math.max(0, moment + near);
  if (which > due.length) return dice.anySize(0, cancelWindowMs);
  return dice.between(0, Math.round(Math.max(cancelWindowMs, reviewLimitMs) * 1.05));
}
