/** Which rules of the policy an order meets, and the policy that follows. Skip rules run before validation, so the transaction may be invalid. */
import { isPartly } from '../card-data/payment-methods.ts';
import {
  FALLBACK_POLICY,
  type Integration,
  type OrderRule,
  type Policy,
  type UnavailableRule,
} from '../contract/policy.ts';
import type { IntegrationWorkflow, UnavailableAction } from '../contract/words.ts';
import { fieldsOf, textOf } from './messages/shapes.ts';

export interface OrderFacts {
  amount: number;
  /** Three letters. Defaults to USD. */
  currency: string;
  paymentMethod?: string | undefined;
  customerId?: string | undefined;
  /** Of each line item; undefined if it has none. */
  itemCategories: (string | undefined)[];
}

/** @returns whether every condition of the rule is true for the order; a rule without conditions always matches */
export function ruleMatches(rule: OrderRule, facts: OrderFacts): boolean {
  return (
    (rule.amountBelow === undefined || facts.amount < rule.amountBelow) &&
    (rule.amountAtLeast === undefined || facts.amount >= rule.amountAtLeast) &&
    listed(rule.currency, [facts.currency]) &&
    listed(rule.paymentMethod, [facts.paymentMethod]) &&
    listed(rule.customerId, [facts.customerId]) &&
    listed(rule.anyItemCategory, facts.itemCategories) &&
    listedAll(rule.itemCategory, facts.itemCategories)
  );
}

/**
 * Decides whether the policy skips an attempt. The API and the worker both call it.
 * @returns the index of the matching `skip` rule, or undefined: the attempt is screened
 */
export function skipRuleFor(
  { skip, paymentMethods }: Pick<Integration, 'skip' | 'paymentMethods'>,
  transaction: unknown,
): number | undefined {
  const facts = orderFactsOf(transaction);
  // Paid partly by gift card and partly by card: no rule for the gift card skips the card.
  if (isPartly(facts.paymentMethod, paymentMethods.noCard) && hasCard(transaction))
    delete facts.paymentMethod;
  const index = skip.findIndex((rule) => ruleMatches(rule, facts));
  return index < 0 ? undefined : index;
}

/** @returns the action of a checkout without a decision: the configured action, or that of the first matching rule, else `hold` */
export function unavailableAction(
  whenUnavailable: UnavailableAction | readonly UnavailableRule[],
  facts: OrderFacts,
): UnavailableAction {
  if (typeof whenUnavailable === 'string') return whenUnavailable;
  return whenUnavailable.find((rule) => ruleMatches(rule, facts))?.action ?? 'hold';
}

/** Some shops send a `creditCard` of empty fields for an order without a card. */
function hasCard(transaction: unknown): boolean {
  const { creditCard } = fieldsOf(fieldsOf(transaction).payment);
  return Object.values(fieldsOf(creditCard)).some((value) => value != null && value !== '');
}

function listed(accepted: string[] | undefined, values: (string | undefined)[]): boolean {
  if (accepted === undefined) return true;
  const known = accepted.map((word) => word.toLowerCase());
  return values.some((value) => value !== undefined && known.includes(value.toLowerCase()));
}

function listedAll(accepted: string[] | undefined, values: (string | undefined)[]): boolean {
  if (accepted === undefined) return true;
  return values.length > 0 && values.every((value) => listed(accepted, [value]));
}

/** @returns the facts of a transaction in either spelling; the currency defaults to USD */
export function orderFactsOf(transaction: unknown): OrderFacts {
  const order = fieldsOf(transaction);
  const items = Array.isArray(order.lineItems) ? order.lineItems : [];
  return {
    amount: amountOf(order.amount),
    currency: (currencyNamed(order) ?? 'USD').toUpperCase(),
    paymentMethod: textOf(fieldsOf(order.payment).method),
    customerId: textOf(fieldsOf(order.customer).id),
    itemCategories: items.map((item) => textOf(fieldsOf(item).category)),
  };
}

function currencyNamed({ currency_code, currencyCode }: Record<string, unknown>): string | undefined {
  return textOf(currency_code) ?? textOf(currencyCode);
}

/**
 * @param isAdopted the transaction was screened without us, so it may be in another currency than USD
 * @returns the currency of a transaction's amount, in three capital letters; undefined if it is unknown, or invalid, as a skipped order's
 * may be
 */
export function currencyOf(transaction: unknown, isAdopted: boolean): string | undefined {
  if (transaction === undefined) return undefined;
  if (isAdopted && currencyNamed(fieldsOf(transaction)) === undefined) return undefined;
  const { currency } = orderFactsOf(transaction);
  return /^[A-Z]{3}$/.test(currency) ? currency : undefined;
}

/** Anything but a decimal number becomes NaN and matches no rule: `Number('')` is 0 and `Number('0x10')` is 16. */
function amountOf(value: unknown): number {
  return typeof value === 'string' && /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : Number.NaN;
}

export function policyFor(
  integration: Integration,
  workflow: IntegrationWorkflow | undefined,
  facts: OrderFacts,
  receiver: boolean,
): Policy {
  return {
    ...recordedOf(integration),
    workflow: workflow ?? integration.workflow,
    whenUnavailable: unavailableAction(integration.whenUnavailable, facts),
    events: receiver && integration.events,
  };
}

/** @returns the part of the integration that an order records, before it is resolved for the order */
function recordedOf(integration: Integration): Omit<Policy, 'whenUnavailable' | 'events'>;
function recordedOf(integration: object): object {
  const given = new Map(Object.entries(integration));
  return Object.fromEntries(Object.keys(FALLBACK_POLICY).map((name) => [name, given.get(name)]));
}
