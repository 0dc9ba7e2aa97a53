/**
 * The fields of a transaction in definition spelling, with the limits of single fields. `parseTransaction` checks the rules between
 * fields and those of the integration workflow, so that all errors are reported at once.
 */
import { z } from 'zod';
import { email, oneOf, text } from '../../contract/fields.ts';
import {
  amount,
  country,
  decimal,
  discount,
  domainName,
  invoiceNumber,
  ipAddress,
  passThrough,
  phoneNumber,
  usDate,
} from '../fields.ts';

const address = {
  firstName: text(128),
  lastName: text(128),
  company: text(128).exactOptional(),
  address: text(128),
  city: text(128),
  state: text(128),
  zip: text(128),
  country,
};

/** May be empty. Otherwise `parseTransaction` requires all fields except `company`. */
export const billToSchema = z.strictObject({ ...address, phoneNumber }).exactPartial();

/**
 * Full card data. It is removed from a transaction before the transaction is stored. `cardCode` is allowed only before an
 * authorization (rule «card code»).
 */
export const cardSchema = z.strictObject({
  cardNumber: z
    .string()
    .regex(/^\d{12,19}$/, 'must be the full card number: 12 to 19 digits and nothing else'),
  expirationDate: z
    .string()
    .regex(
      /^(?:0[1-9]|1[0-2])(?:\d{2}|-\d{2}|-\d{4}|\/\d{2}|\/\d{4})$/,
      'must be a month and year written MMYY, MM-YY, MM-YYYY, MM/YYYY or MM/YY',
    )
    .exactOptional(),
  cardCode: z
    .string()
    .regex(/^\d{3,4}$/, 'must be the 3 or 4 digits of the card code')
    .exactOptional(),
});
export type CardData = z.infer<typeof cardSchema>;

const creditCard = z.strictObject({
  // BINs have 6 or 8 digits. Only the first six are stored (rule «six and four»). More could be a card number.
  bin: z
    .string()
    .regex(/^(?:\d{4,8})?$/, 'must be the first 4 to 8 digits of the card number, or empty')
    .exactOptional(),
  last4: z
    .string()
    .regex(/^\d{4}$/, 'must be the last 4 digits of the card number')
    .exactOptional(),
  cardType: z.string().exactOptional(),
  ...cardSchema.shape,
  cardNumber: cardSchema.shape.cardNumber.exactOptional(),
});

const transactionFields = {
  amount,
  // Assumption «currency code».
  currency_code: z
    .string()
    .regex(/^[A-Z]{1,3}$/, 'must be a code of at most three letters, such as "USD"')
    .exactOptional(),
  discountAmount: discount.exactOptional(),
  discountPrice: discount.exactOptional(),
  discountPercentage: discount.exactOptional(),
  shippingAmount: amount.exactOptional(),
  shippingMethod: z.string().exactOptional(),
  fulfillmentDate: usDate.exactOptional(),
  checkout: passThrough.exactOptional(),
  customer: z.strictObject({
    id: text(64).exactOptional(),
    email: email(),
    joined_on: usDate.exactOptional(),
    last_sign_in: usDate.exactOptional(),
    last_purchase_date: usDate.exactOptional(),
    total_previous_purchases: decimal.exactOptional(),
    total_purchase_value: decimal.exactOptional(),
    saved_cc_added_on: usDate.exactOptional(),
  }),
  merchant: z
    .strictObject({
      name: text(128),
      website: domainName,
      email: email(),
      productType: oneOf(['Goods', 'Services']).exactOptional(),
    })
    .exactOptional(),
  order: z
    .strictObject({
      invoiceNumber: invoiceNumber.exactOptional(),
      order_type: oneOf(['one-time', 'recurring', 'subscription', 'upsell', '']).exactOptional(),
      referring_site: z.string().exactOptional(),
      referring_url: z.string().exactOptional(),
      landing_page: z.string().exactOptional(),
      landing_page_type: oneOf(['home', 'product', 'search', 'category', 'about', 'other']).exactOptional(),
    })
    .exactOptional(),
  billTo: billToSchema,
  shipTo: z.strictObject(address).exactOptional(),
  lineItems: z
    .array(
      z.strictObject({
        sku: z.string().exactOptional(),
        manufacturer: z.string().exactOptional(),
        name: z.string().exactOptional(),
        category: z.string().exactOptional(),
        notes: z.string().exactOptional(),
        price: z.number().exactOptional(),
        quantity: z.number().exactOptional(),
        sellingPlanName: z.string().exactOptional(),
        sellingPlanId: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  gatewayName: z.string().exactOptional(),
  gatewayStatus: z.string().exactOptional(),
  customerIP: ipAddress,
  avsResultCode: text(3).exactOptional(),
  cvvResultCode: z
    .string()
    .regex(/^[A-Z0-9]$/, 'must be one capital letter or digit; send "U" when the gateway gave none')
    .exactOptional(),
  cavvResultCode: oneOf([
    ...(['', 'A', 'B', 'C', 'D', 'I', 'U'] as const),
    ...(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const),
  ]).exactOptional(),
  '3d_secure': z
    .strictObject({
      authenticated: z.boolean().exactOptional(),
      succeeded: z.boolean().exactOptional(),
      version: z.string().exactOptional(),
    })
    .exactOptional(),
  card_attempts: z.string().regex(/^\d+$/, 'must be a whole number in a string, such as "1"').exactOptional(),
  referial_code: text(64)
    .regex(/^[0-9A-Fa-f]+$/, 'must be hexadecimal: 0 to 9, a to f')
    .exactOptional(),
  app: z.string().exactOptional(),
  version: z.string().exactOptional(),
  appName: z.string().exactOptional(),
  appVersion: z.string().exactOptional(),
  userFields: passThrough.exactOptional(),
  performance: passThrough.exactOptional(),
  digitalGoodsAmount: z.string().exactOptional(),
  digitalGoodsPercentage: z.string().exactOptional(),
  gatewayType: oneOf(['post-gateway', 'pre-gateway']).exactOptional(),
  isBopis: z.string().exactOptional(),
  subscriptionDetails: passThrough.exactOptional(),
};

const method = z.string().exactOptional();

/** A transaction as order-screening stores it: definition spelling, no API key, no full card data. */
export const transactionSchema = z.strictObject({
  ...transactionFields,
  // The expiry only without a card number: else it is part of the full card data.
  payment: z.strictObject({
    method,
    creditCard: creditCard.omit({ cardNumber: true, cardCode: true }).exactOptional(),
  }),
});
export type Transaction = z.infer<typeof transactionSchema>;

/**
 * A transaction as an order service sends it, in definition spelling, for API documentation.
 * `parseTransaction` validates it, in both spellings and with the rules between fields.
 */
export const transactionRequestSchema = z.strictObject({
  ...transactionFields,
  payment: z.strictObject({ method, creditCard: creditCard.exactOptional() }),
});
export type TransactionRequest = z.infer<typeof transactionRequestSchema>;
