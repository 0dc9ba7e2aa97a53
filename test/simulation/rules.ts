/** The order's rules as an object, so that a planted fault can stand in for one of them. */
import { replyTo } from '../../src/orders/answers.ts';
import { applyCheckout, checkoutRequest } from '../../src/orders/checkout.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import {
  begin,
  isFinished,
  mayContinueAsNew,
  resultsFirst,
  resumed,
  step,
  wrapUp,
} from '../../src/orders/kernel.ts';
import { newOrder } from '../../src/orders/record.ts';

export const RULES = {
  newOrder,
  checkoutRequest,
  applyCheckout,
  step,
  begin,
  resultsFirst,
  refusalOf,
  replyTo,
  isFinished,
  mayContinueAsNew,
  wrapUp,
  resumed,
  /** Returns whether the next run knows that a run before it was reset. */
  keepsReset: (wasReset: boolean): boolean => wasReset,
};

export type Rules = typeof RULES;
