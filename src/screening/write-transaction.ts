import { z } from 'zod';
import { toSampleSpelling } from './spellings.ts';
import { type CardData, type Transaction, transactionRequestSchema } from './transaction-schema.ts';
import type { Dialect } from './vocabulary.ts';

/** The body of create-transaction in definition spelling, with the service's key. */
export const createBodySchema = transactionRequestSchema.extend({ 'nf-token': z.string() });

/** What goes into a create-transaction request beside the transaction. */
export interface CreateBody {
  dialect: Dialect;
  apiKey: string;
  enrich: boolean;
  /** Full card data, pre-gateway only. */
  card?: CardData | undefined;
  /** Always sent, since only by it can a create of unknown outcome be found again. */
  invoiceNumber: string;
}

/** The JSON body of create-transaction in one dialect (interface document, "Transaction"). */
export function writeTransaction(
  transaction: Transaction,
  { dialect, apiKey, enrich, card, invoiceNumber }: CreateBody,
): Record<string, unknown> {
  const body: z.infer<typeof createBodySchema> = {
    'nf-token': apiKey,
    ...transaction,
    order: { ...transaction.order, invoiceNumber },
    payment: { ...transaction.payment, creditCard: { ...transaction.payment.creditCard, ...card } },
    enrich,
  };
  if (dialect === 'definition') return body;
  return Object.fromEntries(Object.entries(toSampleSpelling(createBodySchema, body) ?? {}));
}
