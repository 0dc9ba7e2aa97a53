/** The order's rules as an object, so that a planted fault can stand in for one of them. */
import type { CheckedOut } from '../../src/contract/activity-contract.ts';
import { applyLateReading, readAfterEndInput } from '../../src/order/after-end.ts';
import {
  begin,
  isFinished,
  mayContinueAsNew,
  resultsFirst,
  resumed,
  step,
  wrapUp,
} from '../../src/order/kernel.ts';
import { inputRefusal } from '../../src/order/messages/used-messages.ts';
import type { Command, Input, Order, Refusal, Reply, Taken } from '../../src/order/order.ts';
import { newOrder } from '../../src/order/record.ts';
import { applyCheckout, checkoutRequest } from '../../src/order/screening/checkout.ts';
import { replyTo } from '../../src/order/view/answers.ts';

export interface Rules {
  newOrder: typeof newOrder;
  checkoutRequest: typeof checkoutRequest;
  applyCheckout: (order: Order, result: CheckedOut | undefined) => Refusal | undefined;
  step: (order: Order, input: Input) => Command[];
  begin: (order: Order) => Command[];
  resultsFirst: (inputs: readonly Input[]) => Input[];
  inputRefusal: typeof inputRefusal;
  replyTo: (order: Order, taken: Taken) => Reply | undefined;
  isFinished: (order: Order) => boolean;
  mayContinueAsNew: (order: Order) => boolean;
  wrapUp: (order: Order) => Command[];
  resumed: (order: Order) => Order;
  /** Whether the next run knows that a run before it was reset. */
  keepsReset: (wasReset: boolean) => boolean;
  readAfterEndInput: typeof readAfterEndInput;
  applyLateReading: typeof applyLateReading;
}

export const RULES: Rules = {
  newOrder,
  checkoutRequest,
  applyCheckout,
  step,
  begin,
  resultsFirst,
  inputRefusal,
  replyTo,
  isFinished,
  mayContinueAsNew,
  wrapUp,
  resumed,
  keepsReset: (wasReset) => wasReset,
  readAfterEndInput,
  applyLateReading,
};
