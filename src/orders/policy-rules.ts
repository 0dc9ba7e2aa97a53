/** Rules on an order: which orders aren't screened (`skip`), and what `whenUnavailable` says. */
import type { Action } from './words.ts';

export type UnavailableAction = Extract<Action, 'hold' | 'proceed' | 'decline'>;

/** What a rule can look at. */
export interface OrderFacts {
  amount: number;
  /** Three letters; USD when the transaction names none. */
  currency: string;
  paymentMethod?: string | undefined;
  customerId?: string | undefined;
  itemCategories: string[];
}

/** All conditions of a rule must hold; a list matches when it has the order's value, whatever the case. */
export interface OrderRule {
  amountBelow?: number | undefined;
  amountAtLeast?: number | undefined;
  currency?: string[] | undefined;
  paymentMethod?: string[] | undefined;
  customerId?: string[] | undefined;
  itemCategory?: string[] | undefined;
}

export interface UnavailableRule extends Pick<OrderRule, 'amountBelow' | 'amountAtLeast' | 'paymentMethod'> {
  action: UnavailableAction;
}

/** @returns whether every condition of the rule holds for the order; a rule without conditions holds */
export function ruleMatches(rule: OrderRule, facts: OrderFacts): boolean {
  return (
    (rule.amountBelow === undefined || facts.amount < rule.amountBelow) &&
    (rule.amountAtLeast === undefined || facts.amount >= rule.amountAtLeast) &&
    listed(rule.currency, [facts.currency]) &&
    listed(rule.paymentMethod, [facts.paymentMethod]) &&
    listed(rule.customerId, [facts.customerId]) &&
    listed(rule.itemCategory, facts.itemCategories)
  );
}

/** @returns the place of the first `skip` rule that holds, or undefined: the order is screened */
export function matchingSkipRule(rules: readonly OrderRule[], facts: OrderFacts): number | undefined {
  const index = rules.findIndex((rule) => ruleMatches(rule, facts));
  return index < 0 ? undefined : index;
}

/** @returns the action of a checkout without a decision: the one word, or the first rule that holds, else `hold` */
export function unavailableAction(
  whenUnavailable: UnavailableAction | readonly UnavailableRule[],
  facts: OrderFacts,
): UnavailableAction {
  if (typeof whenUnavailable === 'string') return whenUnavailable;
  return whenUnavailable.find((rule) => ruleMatches(rule, facts))?.action ?? 'hold';
}

function listed(wanted: string[] | undefined, values: (string | undefined)[]): boolean {
  if (wanted === undefined) return true;
  const known = wanted.map((word) => word.toLowerCase());
  return values.some((value) => value !== undefined && known.includes(value.toLowerCase()));
}

// What policy rules look at, read from a transaction that nobody has checked yet: skip rules come before
// the checks.

/** @returns the facts of a transaction in either spelling; USD when no currency is named */
export function orderFactsOf(transaction: unknown): OrderFacts {
  const order = record(transaction);
  const items = Array.isArray(order.lineItems) ? order.lineItems : [];
  return {
    amount: amountOf(order.amount),
    currency: (text(order.currency_code) ?? text(order.currencyCode) ?? 'USD').toUpperCase(),
    paymentMethod: text(record(order.payment).method),
    customerId: text(record(order.customer).id),
    itemCategories: items.flatMap((item) => text(record(item).category) ?? []),
  };
}

/** What is no decimal number matches no rule: JavaScript makes 0 of an empty text, and numbers of others, too. */
function amountOf(value: unknown): number {
  return typeof value === 'string' && /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
