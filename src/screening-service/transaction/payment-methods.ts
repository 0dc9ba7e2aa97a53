/**
 * Assumption «payment methods»: a name is compared as a whole, ignoring case; every other name is a card, since the screening service
 * needs the card data of each card order, and a word such as "credit" says nothing.
 */

/** Names that shops, gateways and wallets send for something other than a card. */
const NO_CARD = [
  // Kinds
  'ach, alipay, bank deposit, bank transfer, banktransfer, cash, cash on delivery, cash on delivery (cod), cashondelivery, check, cheque',
  'cod, direct debit, free, gift card, gift_card, giftcard, invoice, manual, money order, other, pay by invoice, purchase order',
  'purchaseorder, store credit, store_credit, wire transfer',
  // Wallets and local methods
  'affirm, afterpay, afterpay_clearpay, amazon pay, amazon_marketplace, amazon_payment_v2, amazon_payments_advanced, amazonpay, apple pay',
  'apple_pay, applepay, bacs, bacs debit, bancontact, bank_deposit, blik, boleto, cash app pay, cashapp, clearpay, eps, exchange-credit',
  'giropay, google pay, google_pay, googlepay, ideal, klarna, mobilepay, multibanco, mybank, oxxo, p24, paypal, paypal credit',
  'paypal_billing_agreement, paypal_express, paypal_express_bml, paysafecard, pix, przelewy24, sepa, sepa debit, sepa direct debit',
  'sepa_debit, shop cash, shop_cash, shop_pay_installments, shopify_installments, shopify_store_credit, sofort, swish, trustly, twint',
  'upi, venmo, visa checkout, wechat pay, wechat_pay',
  // Codes of shops and their plugins
  'braintree_ach_direct_debit, braintree_applepay, braintree_googlepay, braintree_local_payment, braintree_paypal',
  'braintree_paypal_vault, braintree_venmo, checkmo, payflow_express, ppcp-gateway, ppcp-oxxo-gateway, ppcp-pay-upon-invoice-gateway',
  'stripe_alipay, stripe_bancontact, stripe_boleto, stripe_eps, stripe_giropay, stripe_ideal, stripe_klarna, stripe_multibanco, stripe_oxxo',
  'stripe_p24, stripe_sepa, stripe_sofort',
].flatMap((line) => line.split(', '));

const known = new Set(NO_CARD);

/** @param listed the names of the policy key `paymentMethods.noCard` */
export function isNoCard(method: unknown, listed: readonly string[] = []): boolean {
  if (typeof method !== 'string') return false;
  const name = method.trim().toLowerCase();
  return known.has(name) || listed.some((one) => one.trim().toLowerCase() === name);
}
