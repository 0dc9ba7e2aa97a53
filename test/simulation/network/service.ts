/** The screening service's books and rules, as the sandbox has them: what it would do with each request, in one step. */
import type { Decision } from '../../../src/contract/words.ts';
import type { BookedRequest, BookedTransaction } from '../../books/books.ts';
import type { Life } from '../plan/life.ts';

type Transaction = BookedTransaction & { covered: boolean };

/** What is asked of the service. */
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

export class Service {
  readonly transactions: Transaction[] = [];
  /** A request has not ended before its `endedAt` is known. */
  readonly ledger: BookedRequest[] = [];
  covered = true;
  readonly #life: Life;

  constructor(life: Life) {
    this.#life = life;
  }

  find(id: string | undefined): Transaction | undefined {
    return this.transactions.find((one) => one.id === id);
  }

  /** Makes a transaction; an order is adopted with one that was made before the life began. */
  begin(invoice: string, attempt: number, decision: Decision, at: number): Transaction {
    const transaction = {
      id: transactionId(this.transactions.length + 1),
      invoice,
      attempt,
      createdAt: at,
      cancelableUntil: at + this.#life.policy.cancelWindowMs,
      decisions: [{ decision, at }],
      covered: this.covered,
    };
    this.transactions.push(transaction);
    return transaction;
  }

  /** Enters a request into the ledger when it leaves. */
  enter(asked: Asked, at: number): BookedRequest {
    const entry = { ...asked, sentAt: at, endedAt: Number.POSITIVE_INFINITY, committed: false };
    this.ledger.push(entry);
    return entry;
  }

  /** Does what is asked, and notes it in the ledger. */
  commit(asked: Asked, entry: BookedRequest, now: number): Said {
    entry.arrivedAt = now;
    const said = this.#do(asked, entry, now);
    if (said.is === 'transaction') {
      entry.transactionId = said.id;
      entry.decision = said.decision;
    }
    return said;
  }

  #do(asked: Asked, entry: BookedRequest, now: number): Said {
    switch (asked.operation) {
      case 'create-transaction': {
        entry.committed = true;
        return told(this.#create(asked, now));
      }
      case 'status':
        return told(this.find(asked.transactionId));
      // Only the first transaction of an invoice number is ever found.
      case 'status-by-invoice':
        return told(this.transactions.find((one) => one.invoice === asked.invoice));
      case 'gateway-response':
        entry.committed = this.find(asked.transactionId) !== undefined;
        return { is: entry.committed ? 'done' : 'not-found' };
      case 'customer-code':
        entry.committed = true;
        return { is: 'done' };
      default:
        return this.#act(asked, entry, now);
    }
  }

  #create({ invoice = '', attempt = 0 }: Asked, now: number): Transaction {
    const before = this.transactions.filter((one) => one.attempt === attempt).length;
    const wishes = this.#life.wishes[attempt - 1] ?? [];
    return this.begin(invoice, attempt, wishes[before] ?? wishes.at(-1) ?? 'pass', now);
  }

  #act({ operation, transactionId }: Asked, entry: BookedRequest, now: number): Said {
    const transaction = this.find(transactionId);
    if (transaction === undefined) return refusal('404', 'Transaction Not Found');
    if (operation === 'cancel-transaction') {
      if (transaction.canceledAt !== undefined) return { is: 'done' };
      if (now > transaction.cancelableUntil) return refusal('403', 'only within 5 days');
      transaction.canceledAt = now;
    } else if (operation === 'submit-chargeback') {
      const decision = decisionOf(transaction);
      if (decision !== 'pass' && decision !== 'fraudulent')
        return refusal('403', 'only while the status is pass or fraudulent');
      if (!transaction.covered) return refusal('403', 'Transaction is not covered');
    }
    entry.committed = true;
    return { is: 'done' };
  }
}

function refusal(code: string, words: string): Said {
  return { is: 'refused', code, words };
}

/** @returns what is decided of it now */
export function decisionOf({ decisions }: Pick<BookedTransaction, 'decisions'>): Decision {
  return decisions.at(-1)?.decision ?? 'pass';
}

function told(transaction: Transaction | undefined): Said {
  if (transaction === undefined) return { is: 'not-found' };
  return { is: 'transaction', id: transaction.id, decision: decisionOf(transaction) };
}
