/** Watches what is sent: a second create needs a look that may be believed, a cancel must be in time. */
import type { Asked, HeardWord } from './service.ts';

/** A create whose outcome nobody knows has arrived by then, or never will. */
const BELIEVED_AFTER_MS = 10_000;

type Create = Extract<Asked, { operation: 'create-transaction' }>;

export interface Sent {
  asked: Create;
  /** How it ended for whoever sent it; absent while nobody knows. */
  heard?: HeardWord;
  /** When nobody was at it any more. */
  endedAt?: number;
}

interface Looked {
  invoice: string;
  at: number;
  /** The transaction that was found. */
  found: string | undefined;
}

export class Watch {
  readonly #fault: (words: string) => void;
  readonly #sent: Sent[] = [];
  readonly #looked: Looked[] = [];

  /** A look by invoice was answered. */
  looked(invoice: string, at: number, found: string | undefined): void {
    this.#looked.push({ invoice, at, found });
  }

  constructor(fault: (words: string) => void) {
    this.#fault = fault;
  }

  /** A create is sent. @returns what is to be told how it ended */
  creates(asked: Create): Sent {
    for (const one of this.#sent) {
      if (one.asked.attempt !== asked.attempt) continue;
      const why = this.#why(one);
      if (why !== undefined) this.#fault(why);
    }
    const sent = { asked };
    this.#sent.push(sent);
    return sent;
  }

  /** A cancel is sent. @param last the last moment for it, by the service's own clock */
  cancels(at: number, last: number): void {
    if (at > last) this.#fault(`a cancel was sent ${at - last} ms after the last call`);
  }

  #why({ asked: { invoice }, heard, endedAt }: Sent): string | undefined {
    if (heard !== undefined && heard !== 'unknown' && heard !== 'unreadable') return undefined;
    if (endedAt === undefined) return `a create of ${invoice} is sent beside another one`;
    const believed = this.#looked.some(
      (look) =>
        look.invoice === invoice && (look.found !== undefined || look.at >= endedAt + BELIEVED_AFTER_MS),
    );
    return believed ? undefined : `a second create of ${invoice} without a look that may be believed`;
  }
}
