/** What the callers of one simulated life were answered. */
import type { CheckoutAnswer } from '../../src/orders/state.ts';
import type { GatewayResult } from '../../src/orders/words.ts';

export interface Diary {
  /** Every answer to every sending of an attempt's checkout. */
  answers: (CheckoutAnswer & { at: number })[];
  refusals: { attempt: number; slug: string }[];
  gateway: { attempt: number; result: GatewayResult; outcome: string }[];
  actions: { kind: string; outcome: string; sentAt: number; at: number }[];
  strange: string[];
  givenUp: string[];
  /** Attempts whose answers were not heard, as the order was told. */
  unheard?: number[];
}
