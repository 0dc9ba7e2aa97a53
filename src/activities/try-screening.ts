/** One try at a decision: look first where a create may have been sent, then create. Design section 6. */
import type { CardStash } from '../cards/index.ts';
import type { Integration } from '../orders/integration.ts';
import type { ScreeningOutcome } from '../orders/screening-outcome.ts';
import type { IntegrationWorkflow } from '../orders/words.ts';
import type { ScreenRequest } from '../orders/world.ts';
import {
  type CardData,
  parseTransaction,
  type ScreeningClient,
  ScreeningError,
  type TransactionResponse,
} from '../screening/index.ts';

export interface Try {
  integration: Integration;
  workflow: IntegrationWorkflow;
  client: ScreeningClient;
  cards: CardStash;
  /** When the try must be over, in milliseconds after the epoch. */
  until: number;
}

/** What a try knows for certain; `unknown` and `not-done` are left as the client's error. */
export type Tried = Exclude<ScreeningOutcome, { kind: 'skipped' } | { kind: 'unanswered' }> | ScreeningError;

/** @returns the transaction checked against the rules in force, or its faults with their paths */
export function checkTransaction(
  request: ScreenRequest,
  integration: Integration,
  workflow: IntegrationWorkflow,
) {
  return parseTransaction(request.transaction, {
    workflow,
    mode: integration.mode,
    today: new Date(),
    cardInStash: request.cardRef !== undefined,
  });
}

/** Looks by invoice if something may have been sent before, adopts what is found and new, else creates. */
export async function tryScreening(request: ScreenRequest, t: Try): Promise<Tried> {
  const checked = checkTransaction(request, t.integration, t.workflow);
  if (!checked.ok) {
    const words = checked.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
    return { kind: 'refused', reason: 'invalid-request', words };
  }
  try {
    if (request.lookFirst) {
      const found = await adopt(request, t);
      if (found !== undefined) return found;
    }
    const card = await cardFor(request, t);
    if (card === 'gone') return { kind: 'refused', reason: 'card-data-expired' };
    const response = await t.client.createTransaction(
      {
        transaction: checked.transaction,
        enrich: t.integration.enrich,
        invoiceNumber: request.invoiceNumber,
        ...(card !== undefined && { card }),
      },
      { timeoutMs: left(t) },
    );
    return answeredBy(response, false);
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    return outcomeOf(error);
  }
}

/** @returns the order's own transaction if the service has one that is new to the order */
export async function adopt(
  request: ScreenRequest,
  t: Try,
): Promise<(ScreeningOutcome & { kind: 'answered' }) | undefined> {
  try {
    const found = await t.client.statusByInvoice(request.invoiceNumber, { timeoutMs: left(t) });
    return request.knownTransactionIds.includes(found.id) ? undefined : answeredBy(found, true);
  } catch (error) {
    if (error instanceof ScreeningError && error.reason === 'not-found') return undefined;
    throw error;
  }
}

function answeredBy(
  response: TransactionResponse,
  adopted: boolean,
): ScreeningOutcome & { kind: 'answered' } {
  return {
    kind: 'answered',
    transactionId: response.id,
    decision: response.decision,
    adopted,
    ...(response.message !== undefined && { message: response.message }),
    ...(response.insights !== undefined && { insights: response.insights }),
  };
}

function outcomeOf(error: ScreeningError): Tried {
  switch (error.reason) {
    case 'forbidden':
      return { kind: 'forbidden' };
    case 'unknown-decision':
    case 'missing-id':
      return {
        kind: 'unreadable',
        reason: error.reason,
        ...(error.transactionId !== undefined && { transactionId: error.transactionId }),
      };
    default:
      if (error.outcome !== 'refused') return error;
      return { kind: 'refused', reason: 'refused', words: error.words?.join('; ') ?? error.reason };
  }
}

async function cardFor(request: ScreenRequest, t: Try): Promise<CardData | 'gone' | undefined> {
  const { integration, orderId, cardRef } = request;
  if (cardRef === undefined) return undefined;
  return (await t.cards.get({ integration, orderId, cardRef })) ?? 'gone';
}

/** At least a moment, so that a call that is due is made and ends at once. */
function left(t: Try): number {
  return Math.max(1, t.until - Date.now());
}
