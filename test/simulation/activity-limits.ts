/** Time-outs, pauses and tries of each activity, as the workflow asks for them. */
import type { Call } from '../../src/orders/activity-contract.ts';

/** The calls that are activities of the server. */
export type Regular = Exclude<Call, { kind: 'first-screening' | 'look' | 'timer' | 'pause' }>;

export interface Limits {
  /** After which the server gives a try up that it hears nothing of, from its end or its beginning. */
  unheardMs: number;
  heartbeats: boolean;
  firstPauseMs: number;
  factor: number;
  longestPauseMs: number;
  tries?: number;
  inAllMs?: number;
}

const BACKGROUND: Limits = {
  unheardMs: 15_000,
  heartbeats: true,
  firstPauseMs: 2_000,
  factor: 2,
  longestPauseMs: 300_000,
};
export const LIMITS: Record<Regular['kind'], Limits> = {
  policy: { ...BACKGROUND, unheardMs: 9_000, heartbeats: false, firstPauseMs: 1_000, longestPauseMs: 60_000 },
  'retry-screening': {
    ...BACKGROUND,
    unheardMs: 9_000,
    heartbeats: false,
    firstPauseMs: 100,
    tries: 2,
    inAllMs: 20_000,
  },
  'catch-up': BACKGROUND,
  read: BACKGROUND,
  poll: { ...BACKGROUND, unheardMs: 45_000, heartbeats: false, firstPauseMs: 60_000, factor: 1 },
  'look-up': BACKGROUND,
  gateway: BACKGROUND,
  portal: { ...BACKGROUND, firstPauseMs: 1_000 },
  deliver: { ...BACKGROUND, factor: 3, longestPauseMs: 6 * 3_600_000, inAllMs: 3 * 24 * 3_600_000 },
  'forget-card': { ...BACKGROUND, inAllMs: 15 * 60_000 },
};
