/** The order's rules as an object, so that a planted fault can stand in for one of them. */

import type { Command } from '../../src/orders/activity-contract.ts';
import { answerBeforeContinuing, refusalOf } from '../../src/orders/ask.ts';
import type { Ask, Input, Order, Refusal, Reply } from '../../src/orders/order.ts';
import { newOrder } from '../../src/orders/record.ts';
import { canStop, keep, next, nothingLeft, resumed, step, takenUp } from '../../src/orders/step.ts';

export interface Rules {
  newOrder: typeof newOrder;
  step: (order: Order, input: Input) => Reply[];
  keep: (order: Order) => Command[];
  next: (order: Order, waiting: Input[]) => Input | undefined;
  refusalOf: (order: Order, waiting: Input[], ask: Ask, nowMs: number) => Refusal | undefined;
  nothingLeft: (order: Order) => boolean;
  canStop: (order: Order) => boolean;
  leave: (order: Order) => Reply[];
  resumed: (order: Order) => Order;
  takenUp: typeof takenUp;
}

export const RULES: Rules = {
  newOrder,
  step,
  keep,
  next,
  refusalOf,
  nothingLeft,
  canStop,
  leave: answerBeforeContinuing,
  resumed,
  takenUp,
};
