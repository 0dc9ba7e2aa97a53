/** One life, as it was planned: all that is drawn by chance is in here, or depends on the seed and a count alone. */
import type { Policy } from '../../src/contract/policy.ts';
import type { Decision } from '../../src/contract/words.ts';
import type { Adopted } from './adopted-lives.ts';
import type { Happening } from './happenings.ts';

export interface Life {
  seed: number;
  policy: Policy;
  checkoutBudgetMs: number;
  amount: number;
  laterAmount: number;
  /** What the service decides, by attempt, and of an attempt by create. */
  wishes: Decision[][];
  start: 'plain' | 'update';
  /** Until when the caller waits, in milliseconds after the start. */
  answerByMs?: number;
  card: boolean;
  adopted?: Adopted;
  happenings: Happening[];
}

export const START = Date.parse('2026-03-02T10:00:00.000Z');
