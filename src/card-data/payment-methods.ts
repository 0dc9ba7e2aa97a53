/**
 * Assumption «payment methods»: a name is compared as a whole, in any case, an underscore as a space; every other name is a card, since
 * the screening service needs the card data of each card order, and a word such as "credit" says nothing.
 */

/** Names that shops, gateways and wallets send for something other than a card. */
const NO_CARD = [
  // Kinds
  'ach, alipay, bank deposit, bank transfer, banktransfer, cash, cash on delivery, cash on delivery (cod), cashondelivery, charge, check',
  'cheque, cod, direct debit, free, gift card, giftcard, invoice, manual, money order, other, pay by invoice, purchase order',
  'purchaseorder, store credit, wire transfer',
  // Wallets and local methods
  'affirm, afterpay, afterpay_clearpay, afterpay_north_america, amazon pay, amazon_marketplace, amazon_payment_v2, amazon_payments_advanced',
  'amazonpay, apple pay, applepay, bacs, bacs debit, bancontact, blik, boleto, cash app pay, cashapp, clearpay',
  'eps, exchange-credit, giropay, google pay, googlepay, ideal, klarna, mobilepay, multibanco, mybank, oxxo, p24, paypal',
  'paypal credit, paypal_billing_agreement, paypal_express, paypal_express_bml, paysafecard, pix, przelewy24, sepa, sepa debit',
  'sepa direct debit, shop cash, shop_pay_installments, shopify_installments, shopify_store_credit, sofort, swish',
  'trustly, twint, upi, venmo, visa checkout, wechat pay',
  // Codes of shops and their plugins
  'amazon_payment_v2_vault, braintree_ach_direct_debit, braintree_applepay, braintree_googlepay, braintree_local_payment, braintree_paypal',
  'braintree_paypal_vault, braintree_venmo, checkmo, ecomm giftcard, manual_in_shopify_test, payflow_express, payflow_express_bml',
  'payment_services_paypal_smart_buttons, pp_cash, pp_cod_cod, pp_stripe-alma_stripe-klarna-alma, pp_stripe-klarna_stripe-klarna-alma',
  'pp_system_default, ppcp-gateway, ppcp-oxxo-gateway, ppcp-pay-upon-invoice-gateway',
].flatMap((line) => line.split(', '));

/** Plugins with one code per payment method: the prefix of their codes, the methods, and the suffix. */
const PLUGINS: readonly [before: string, kinds: string, behind?: string][] = [
  ['mollie_methods_', 'bancontact, banktransfer, giftcard, ideal, klarna, paypal'],
  ['mollie_wc_gateway_', 'banktransfer, belfius, directdebit, ideal, kbc, paypal, paysafecard, sofort'],
  ['pp_mollie-', 'bancontact, giftcard, ideal, klarna', '_mollie'],
  [
    'pp_stripe-',
    'bancontact, blik, giropay, ideal, klarna, oxxo, paypal, promptpay, przelewy24, wero',
    '_stripe',
  ],
  ['ppcp-', 'bancontact, blik, eps, ideal, multibanco, mybank, p24, trustly'],
  [
    'stripe_',
    'affirm, afterpay_clearpay, alipay, bancontact, boleto, cashapp, eps, giropay, ideal, klarna, multibanco, oxxo, p24, sepa, sofort, wechat_pay',
  ],
  [
    'woocommerce_payments_',
    'affirm, afterpay_clearpay, au_becs_debit, bancontact, eps, giropay, ideal, klarna, p24, sepa_debit, sofort',
  ],
];
const codes = PLUGINS.flatMap(([before, kinds, behind = '']) =>
  kinds.split(', ').map((kind) => `${before}${kind}${behind}`),
);

const known = new Set([...NO_CARD, ...codes].map(compared));

/** @param listed the names of the policy key `paymentMethods.noCard` */
export function isNoCard(method: unknown, listed: readonly string[] = []): boolean {
  if (typeof method !== 'string') return false;
  const name = compared(method);
  return known.has(name) || listed.some((one) => compared(one) === name);
}

/** Wallets that hold cards: a `creditCard` beside them is the wallet's own. */
const CARD_WALLET = /apple ?pay|google ?pay|visa checkout/;

/** @returns whether an order with a `creditCard` was paid only partly by the method, as by a gift card */
export function isPartly(method: unknown, listed: readonly string[]): boolean {
  return isNoCard(method, listed) && !CARD_WALLET.test(compared(String(method)));
}

/** Shops and their connectors write `cash on delivery`, `CASH_ON_DELIVERY` and `paypal express`. */
function compared(name: string): string {
  return name.trim().toLowerCase().replaceAll('_', ' ');
}
