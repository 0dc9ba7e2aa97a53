/** The order's rules as an object, so that a planted fault can stand in for one of them. */
import { applyLateReading, readAfterEndInput } from '../../src/order/after-end.ts';
import {
  arriveNow,
  begin,
  isFinished,
  mayContinueAsNew,
  resultsFirst,
  resumed,
  step,
  wrapUp,
} from '../../src/order/kernel.ts';
import { inputRefusal } from '../../src/order/messages/used-messages.ts';
import { newOrder } from '../../src/order/record.ts';
import { applyCheckout, checkoutRequest } from '../../src/order/screening/checkout.ts';
import { replyTo } from '../../src/order/view/answers.ts';

export const RULES = {
  newOrder,
  checkoutRequest,
  applyCheckout,
  arriveNow,
  step,
  begin,
  resultsFirst,
  inputRefusal,
  replyTo,
  isFinished,
  mayContinueAsNew,
  wrapUp,
  resumed,
  /** Whether the next run knows that a run before it was reset. */
  keepsReset: (wasReset: boolean): boolean => wasReset,
  readAfterEndInput,
  applyLateReading,
};

export type Rules = typeof RULES;
