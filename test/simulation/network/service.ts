/** The screening service's books and rules, as the sandbox has them: what it would do with each request, in one step. */
import type { PortalFields } from '../../../src/contract/messages.ts';
import type { Decision, GatewayResult } from '../../../src/contract/words.ts';
import { type Heard, type Operation, PORTAL_OPERATIONS } from '../../books/books.ts';

export interface Transaction {
  id: string;
  invoice: string;
  /** The attempt that it was made for. */
  attempt: number;
  decision: Decision;
  decisions: { decision: Decision; at: number; by: 'screening' | 'analyst' }[];
  createdAt: number;
  canceledAt?: number;
  covered: boolean;
}

export interface Entry {
  at: number;
  operation: Operation;
  transactionId: string | null;
  invoice: string | null;
  status: number | null;
  decision: Decision | null;
  /** The portal's code. */
  code: string | null;
  committed: boolean;
  fault: string | null;
  /** The attempt whose content a create carries. */
  attempt?: number;
  /** What a portal action or a gateway result sends. */
  sent?: PortalFields | GatewayResult;
  /** When the screening service dealt with it. */
  arrivedAt?: number;
  /** When its sender heard the answer, gave it up, or was gone, and what it heard. */
  endedAt?: number;
  heard?: Heard;
}

/** What is asked of the service. */
export type Asked =
  | { operation: 'create-transaction'; invoice: string; attempt: number; wishes: readonly Decision[] }
  | { operation: 'status'; transactionId: string }
  | { operation: 'status-by-invoice'; invoice: string }
  | { operation: 'gateway-response'; transactionId: string; result: GatewayResult }
  | { operation: 'portal'; fields: PortalFields; transactionId?: string; email?: string };

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

/** @returns the operation's name in the ledger */
export function operationOf(asked: Asked): Operation {
  return asked.operation === 'portal' ? PORTAL_OPERATIONS[asked.fields.kind] : asked.operation;
}

export class Service {
  readonly transactions: Transaction[] = [];
  readonly ledger: Entry[] = [];
  covered = true;
  readonly #cancelWindowMs: number;

  constructor(cancelWindowMs: number) {
    this.#cancelWindowMs = cancelWindowMs;
  }

  find(id: string): Transaction | undefined {
    return this.transactions.find((one) => one.id === id);
  }

  /** Somebody else has screened it, before the life began. */
  begin(id: string, invoice: string, decision: Decision, at: number): void {
    this.transactions.push({
      id,
      invoice,
      attempt: 1,
      decision,
      decisions: [{ decision, at, by: 'screening' }],
      createdAt: at,
      covered: this.covered,
    });
  }

  /** Enters a request into the ledger when it arrives. */
  enter(asked: Asked, at: number, fault: string | null): Entry {
    const entry: Entry = {
      at,
      operation: operationOf(asked),
      transactionId: 'transactionId' in asked ? (asked.transactionId ?? null) : null,
      invoice: 'invoice' in asked ? asked.invoice : null,
      status: null,
      decision: null,
      code: null,
      committed: false,
      fault,
      ...(asked.operation === 'create-transaction' && { attempt: asked.attempt }),
      ...(asked.operation === 'gateway-response' && { sent: asked.result }),
      ...(asked.operation === 'portal' && { sent: asked.fields }),
    };
    this.ledger.push(entry);
    return entry;
  }

  /** Does what is asked, and notes it in the ledger. */
  commit(asked: Asked, entry: Entry, now: number): Said {
    const said = this.#do(asked, entry, now);
    entry.arrivedAt = now;
    entry.status = said.is === 'not-found' && asked.operation !== 'portal' ? 404 : 200;
    if (asked.operation === 'portal') entry.code = said.is === 'refused' ? said.code : '200';
    if (said.is === 'transaction') {
      entry.transactionId = said.id;
      entry.decision = said.decision;
    }
    return said;
  }

  #do(asked: Asked, entry: Entry, now: number): Said {
    switch (asked.operation) {
      case 'create-transaction': {
        const transaction = this.#create(asked, now);
        entry.committed = true;
        return { is: 'transaction', id: transaction.id, decision: transaction.decision };
      }
      case 'status':
        return told(this.find(asked.transactionId));
      // Only the first transaction of an invoice number is ever found.
      case 'status-by-invoice':
        return told(this.transactions.find((one) => one.invoice === asked.invoice));
      case 'gateway-response': {
        const transaction = this.find(asked.transactionId);
        if (transaction === undefined) return { is: 'not-found' };
        entry.committed = true;
        return { is: 'done' };
      }
      case 'portal':
        return this.#act(asked, entry, now);
    }
  }

  #create(asked: Extract<Asked, { operation: 'create-transaction' }>, now: number): Transaction {
    const before = this.transactions.filter((one) => one.attempt === asked.attempt).length;
    const decision = asked.wishes[before] ?? asked.wishes.at(-1) ?? 'pass';
    const transaction: Transaction = {
      id: transactionId(this.transactions.length + 1),
      invoice: asked.invoice,
      attempt: asked.attempt,
      decision,
      decisions: [{ decision, at: now, by: 'screening' }],
      createdAt: now,
      covered: this.covered,
    };
    this.transactions.push(transaction);
    return transaction;
  }

  #act({ fields, transactionId }: Extract<Asked, { operation: 'portal' }>, entry: Entry, now: number): Said {
    if (fields.kind === 'customer-code') {
      entry.committed = true;
      return { is: 'done' };
    }
    const transaction = this.find(transactionId ?? '');
    if (transaction === undefined) return { is: 'refused', code: '404', words: 'Transaction Not Found' };
    switch (fields.kind) {
      case 'cancel':
        if (transaction.canceledAt !== undefined) return { is: 'done' };
        if (now - transaction.createdAt > this.#cancelWindowMs) {
          return { is: 'refused', code: '403', words: 'only within 5 days' };
        }
        transaction.canceledAt = now;
        break;
      case 'chargeback':
        if (transaction.decision !== 'pass' && transaction.decision !== 'fraudulent') {
          return { is: 'refused', code: '403', words: 'only while the status is pass or fraudulent' };
        }
        if (!transaction.covered) return { is: 'refused', code: '403', words: 'Transaction is not covered' };
        break;
    }
    entry.committed = true;
    return { is: 'done' };
  }
}

function told(transaction: Transaction | undefined): Said {
  if (transaction === undefined) return { is: 'not-found' };
  return { is: 'transaction', id: transaction.id, decision: transaction.decision };
}
