/** The screening service's books, and its rules: what it does with each request, in one step. */
import type { Decision } from '../../src/contract/words.ts';
import type { BookedRequest, BookedTransaction } from '../books/books.ts';
import type { Life } from './life.ts';

export type Asked = Pick<BookedRequest, 'operation' | 'transactionId' | 'invoice' | 'attempt' | 'sent'>;

/** What the service says when nothing goes wrong on the way. */
export type Said =
  | { is: 'transaction'; id: string; decision: Decision }
  | { is: 'done' }
  | { is: 'not-found' }
  | { is: 'refused'; code: string; words: string };

/** @returns the id of the nth transaction; no transaction has the number 0 */
export function transactionId(nth: number): string {
  return `00000000-0000-4000-8000-${String(nth).padStart(12, '0')}`;
}

/** A transaction that the screening service doesn't have. */
export const ANOTHERS_ID = transactionId(0);

export function decisionOf({ decisions }: BookedTransaction): Decision {
  return decisions.at(-1)?.decision ?? 'error';
}

export class Service {
  readonly transactions: BookedTransaction[] = [];
  readonly requests: BookedRequest[] = [];
  readonly #life: Life;

  constructor(life: Life) {
    this.#life = life;
  }

  find(id: string | undefined): BookedTransaction | undefined {
    return this.transactions.find((one) => one.id === id);
  }

  create(invoice: string, attempt: number, decision: Decision, at: number): BookedTransaction {
    const transaction: BookedTransaction = {
      id: transactionId(this.transactions.length + 1),
      invoice,
      attempt,
      createdAt: at,
      cancelableUntil: at + this.#life.policy.cancelWindowMs,
      decisions: [{ decision, at }],
    };
    this.transactions.push(transaction);
    return transaction;
  }

  enter(asked: Asked, at: number): BookedRequest {
    const request = { ...asked, sentAt: at, endedAt: Number.POSITIVE_INFINITY, committed: false };
    this.requests.push(request);
    return request;
  }

  commit(request: BookedRequest, now: number): Said {
    const said = this.#do(request, now);
    request.arrivedAt = now;
    if (said.is === 'transaction') {
      request.transactionId = said.id;
      request.decision = said.decision;
    }
    return said;
  }

  #do(request: BookedRequest, now: number): Said {
    const { operation, invoice = '', attempt = 1 } = request;
    const transaction = this.find(request.transactionId);
    switch (operation) {
      case 'create-transaction': {
        const before = this.transactions.filter((one) => one.attempt === attempt).length;
        const wishes = this.#life.wishes[attempt - 1] ?? [];
        request.committed = true;
        return told(this.create(invoice, attempt, wishes[before] ?? wishes.at(-1) ?? 'pass', now));
      }
      case 'status':
        return told(transaction);
      // Only the first transaction of an invoice number is ever found.
      case 'status-by-invoice':
        return told(this.transactions.find((one) => one.invoice === invoice));
      case 'customer-code':
        break;
      case 'gateway-response':
        if (transaction === undefined) return { is: 'not-found' };
        break;
      default:
        if (transaction === undefined) return { is: 'refused', code: '404', words: 'Transaction Not Found' };
        if (operation === 'cancel-transaction') {
          if (transaction.canceledAt !== undefined) return { is: 'done' };
          if (now > transaction.cancelableUntil) return refused('only within 5 days');
          transaction.canceledAt = now;
        }
        if (operation === 'submit-chargeback' && !['pass', 'fraudulent'].includes(decisionOf(transaction)))
          return refused('only while the status is pass or fraudulent');
    }
    request.committed = true;
    return { is: 'done' };
  }
}

function told(transaction: BookedTransaction | undefined): Said {
  if (transaction === undefined) return { is: 'not-found' };
  return { is: 'transaction', id: transaction.id, decision: decisionOf(transaction) };
}

function refused(words: string): Said {
  return { is: 'refused', code: '403', words };
}
