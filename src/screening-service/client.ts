/** The client of the screening service, with one method per operation. */
import { withoutHash } from '../contract/ids.ts';
import type { Integration } from '../contract/policy.ts';
import { type PortalRequests, portalContentSchema } from '../contract/portal/portal-actions.ts';
import type { PortalActionKind } from '../contract/portal/portal-kinds.ts';
import type { GatewayResult } from '../contract/words.ts';
import { type Checked, checkFields } from './check-fields.ts';
import { type Operation, ScreeningError } from './errors.ts';
import { exchange, type Reply } from './exchange.ts';
import { MACHINE, type Machine } from './machine.ts';
import {
  type Context,
  readChargebackReply,
  readGatewayReply,
  readPortalReply,
  readTransactionResponse,
} from './replies.ts';
import { toDefinitionSpelling } from './spellings.ts';
import { tidiedAction } from './transaction/as-pasted.ts';
import { type CreateBody, writeTransaction } from './transaction/parse-transaction.ts';
import type { Transaction } from './transaction/transaction-schema.ts';

const DEFAULT_TIMEOUT_MS = 10_000;

/** The operations of the screening service. Each rejects only with `ScreeningError`. */
export type ScreeningClient = ReturnType<typeof createScreeningClient>;

/** Creates a client of the screening service for one integration. Clients share their connections, so creating one per call is cheap. */
export function createScreeningClient(settings: ScreeningClientSettings) {
  // Assumption «key in a header».
  const { apiKey, dialect, apiKeyHeader = false, machine = MACHINE, onFailure } = settings;
  const base = settings.baseUrl.replace(/\/+$/, '');
  const portal = settings.portalBaseUrl.replace(/\/+$/, '');

  async function call<T>(
    request: Omit<Context, 'secrets'> & { url: string; body?: unknown; secrets?: string[] },
    { timeoutMs = DEFAULT_TIMEOUT_MS }: CallOptions = {},
    read: (reply: Reply, context: Context) => T,
  ): Promise<T> {
    const { operation, url, body, secrets = [], transactionId } = request;
    const headers = apiKeyHeader ? { 'x-api-key': apiKey } : {};
    try {
      const reply = await exchange(machine, { operation, url, headers, body, timeoutMs });
      return read(reply, { operation, secrets: [apiKey, ...secrets], transactionId });
    } catch (error) {
      if (error instanceof ScreeningError) onFailure?.(error, new URL(url).host);
      throw error;
    }
  }

  /** Sends a status call. Its address contains the key, so it must be passed to `exchange` only. */
  function lookUp(operation: Operation, requested: string, options: CallOptions | undefined) {
    if (!isSegment(requested)) {
      return Promise.reject(new ScreeningError({ operation, outcome: 'refused', reason: 'bad-request' }));
    }
    const path = operation.replaceAll('-', '_');
    const url = `${base}/${path}/${encodeURIComponent(apiKey)}/${encodeURIComponent(requested)}`;
    const transactionId = operation === 'status-by-url' ? requested : undefined;
    return call({ operation, url, transactionId }, options, readTransactionResponse);
  }

  /** Sends a portal action. Fields that are undefined aren't sent. */
  function act<T>(
    operation: Operation,
    { transactionId, ...fields }: { transactionId?: string; [field: string]: unknown },
    options: CallOptions | undefined,
    read: (reply: Reply, context: Context) => T,
  ): Promise<T> {
    const body = { nf_token: apiKey, transaction_id: transactionId, ...fields };
    return call({ operation, url: `${portal}/${operation}`, body, transactionId }, options, read);
  }

  return {
    /** Screens a transaction. Not idempotent: after outcome `unknown`, look it up by invoice number before sending it again. */
    createTransaction(request: CreateRequest, options?: CallOptions) {
      const { transaction, card, enrich, invoiceNumber } = request;
      const body = writeTransaction(transaction, { dialect, apiKey, enrich, card, invoiceNumber });
      // Assumption «path of a create».
      const url = dialect === 'definition' ? `${base}/transaction` : `${base}/`;
      const secrets = card === undefined ? [] : Object.values(card);
      return call({ operation: 'create-transaction', url, body, secrets }, options, readTransactionResponse);
    },
    /** Reports the gateway's result of a transaction that was screened before the gateway was called. */
    gatewayResponse(response: GatewayResponse, options?: CallOptions) {
      const { transactionId, result, authcode, gatewayTransactionId } = response;
      // The samples use the definition's spelling for this body, so it is the same in both dialects.
      const body = {
        'nf-token': apiKey,
        'nf-id': transactionId,
        'gateway-response': { result, authcode, 'transaction-id': gatewayTransactionId },
      };
      const url = `${base}/gateway_response`;
      return call({ operation: 'gateway-response', url, body }, options, readGatewayReply);
    },
    status: (idOrInvoice: string, options?: CallOptions) =>
      lookUp('status', withoutHash(idOrInvoice), options),
    /** Reads a transaction by its id. @throws ScreeningError `not-found`, or `other-transaction` if the reply has a different id */
    statusById: (id: string, options?: CallOptions) => lookUp('status-by-url', id, options),
    /** Reads the first transaction with this invoice number, without a leading `#`. @throws ScreeningError `not-found` */
    statusByInvoice: (invoiceNumber: string, options?: CallOptions) =>
      lookUp('status-by-invoice', withoutHash(invoiceNumber), options),
    customerCode: ({ customerCode, email }: { customerCode: string; email: string }, options?: CallOptions) =>
      act('customer-code', { customer_code: customerCode, email }, options, readPortalReply),
    reportFraud: ({ transactionId }: { transactionId: string }, options?: CallOptions) =>
      act('report-fraud', { transactionId }, options, readPortalReply),
    /** Cancels a transaction. The screening service accepts this for 5 days after the first screening. */
    cancelTransaction: ({ transactionId }: { transactionId: string }, options?: CallOptions) =>
      act('cancel-transaction', { transactionId }, options, readPortalReply),
    /** Submits a chargeback. A repeat after an unknown outcome may submit it twice. */
    submitChargeback: (chargeback: { transactionId: string } & Chargeback, options?: CallOptions) =>
      act('submit-chargeback', chargeback, options, readChargebackReply),
  };
}

/** Whether text can be a path segment: `.` and `..` would change the path, and a lone surrogate can't be encoded. */
function isSegment(text: string): boolean {
  return !/^\.{0,2}$/.test(text) && !/\p{Surrogate}/u.test(text);
}

interface ScreeningClientSettings
  extends Pick<Integration, 'baseUrl' | 'portalBaseUrl' | 'dialect'>,
    Partial<Pick<Integration, 'apiKeyHeader'>> {
  apiKey: string;
  /** Defaults to the machine of this process. */
  machine?: Machine;
  /** Called for each failed call, with the host, and the port unless it is the default one. */
  onFailure?: (error: ScreeningError, host: string) => void;
}

export interface CallOptions {
  /** Timeout in milliseconds for connecting, headers and the whole body together; 10 s by default. */
  timeoutMs?: number;
}

type CreateRequest = { transaction: Transaction } & Omit<CreateBody, 'dialect' | 'apiKey'>;

interface GatewayResponse {
  /** The id that create-transaction returned. */
  transactionId: string;
  result: GatewayResult;
  authcode?: string;
  /** The gateway's own id of the payment. */
  gatewayTransactionId?: string;
}

/** A chargeback without the key and the transaction id. */
type Chargeback = Omit<PortalRequests['chargeback'], 'force' | 'transactionId'>;

/** Checks the fields of a portal action in either spelling. */
export function parsePortalFields(kind: PortalActionKind, input: unknown): Checked<Record<string, unknown>> {
  const schema = portalContentSchema(kind);
  const spelled = toDefinitionSpelling(schema, input);
  return checkFields(schema, { ...spelled, value: tidiedAction(spelled.value) });
}
