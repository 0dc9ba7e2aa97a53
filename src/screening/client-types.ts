import type { Chargeback } from './portal-schema.ts';
import type { ChargebackReply, PortalReply, TransactionResponse } from './responses.ts';
import type { CardData, Transaction } from './transaction-schema.ts';
import type { Dialect } from './vocabulary.ts';

/** One integration's way to the service. */
export interface ScreeningClientSettings {
  /** Screening address that fits the key's mode, with or without a last slash. */
  baseUrl: string;
  /** Portal address; its path ends in `/api/v1/transaction-update`. */
  portalBaseUrl: string;
  apiKey: string;
  dialect: Dialect;
}

export interface CallOptions {
  /** Milliseconds for connecting, headers and the whole body together; 10 s unless given. */
  timeoutMs?: number;
}

export interface CreateRequest {
  transaction: Transaction;
  /** Full card data, for pre-gateway only; it goes into the request and nowhere else. */
  card?: CardData;
  enrich: boolean;
  invoiceNumber: string;
}

export interface GatewayResult {
  /** The id that create-transaction returned. */
  transactionId: string;
  result: 'pass' | 'fail' | 'error';
  authcode?: string;
  /** The gateway's own id of the payment. */
  gatewayTransactionId?: string;
}

/** The operations of the screening service. Every one rejects with `ScreeningError` and nothing else. */
export interface ScreeningClient {
  /** Screens a transaction. It is not idempotent: after outcome `unknown` look by invoice before sending again. */
  createTransaction(request: CreateRequest, options?: CallOptions): Promise<TransactionResponse>;
  /** Reports the gateway's result of a transaction that was screened before the gateway was called. */
  gatewayResponse(result: GatewayResult, options?: CallOptions): Promise<void>;
  /** Reads a transaction by its id or invoice number. */
  status(idOrInvoice: string, options?: CallOptions): Promise<TransactionResponse>;
  /** Reads a transaction by its id. Unknown: `refused`, reason `not-found`. */
  statusById(id: string, options?: CallOptions): Promise<TransactionResponse>;
  /** Reads the first transaction with this invoice number (a leading `#` is removed). None: `not-found`. */
  statusByInvoice(invoiceNumber: string, options?: CallOptions): Promise<TransactionResponse>;
  /** Attaches a phone-order customer code. */
  customerCode(request: { customerCode: string; email: string }, options?: CallOptions): Promise<PortalReply>;
  /** Asks analysts to look at a transaction as fraud. */
  reportFraud(request: { transactionId: string }, options?: CallOptions): Promise<PortalReply>;
  /** Cancels a transaction; the service accepts it for 5 days after the first screening. */
  cancelTransaction(request: { transactionId: string }, options?: CallOptions): Promise<PortalReply>;
  /** Submits a chargeback. A repeat after an unknown outcome may submit it twice. */
  submitChargeback(
    request: { transactionId: string } & Chargeback,
    options?: CallOptions,
  ): Promise<ChargebackReply>;
}
