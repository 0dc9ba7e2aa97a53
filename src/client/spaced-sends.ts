/** Limits what a process sends to one order: one message per spacing, and the newest of those in between. */
import { FIRST_SPACING_MS, longerSpacing } from '../orders/spacing.ts';

/** The limiter remembers so many orders, the most recent ones. */
const MOST_ORDERS = 10_000;
/** So many kept messages are sent at a time when the process stops. */
const SENT_AT_A_TIME = 100;

/** Sends a message. @returns whether the order exists */
type Send<Message> = (message: Message) => Promise<boolean>;

interface Spacing<Message> {
  ms: number;
  /** The last send whose outcome callers share. */
  sent: Promise<boolean>;
  /** Messages are kept: a send is under way, or its spacing has not ended. */
  keeps: boolean;
  kept?: { message: Message; send: Send<Message> };
  timer?: NodeJS.Timeout;
}

/**
 * Sends at once what comes after a quiet time, and keeps what comes within a spacing until the spacing ends. The spacing is 2 s; it
 * doubles up to 5 min as long as messages come within it or within the same time after it.
 */
export class SpacedSends<Message> {
  readonly #spacings = new Map<string, Spacing<Message>>();
  readonly #merge: (one: Message, other: Message) => Message;
  readonly #most: number;

  /** @param merge makes one message of a kept one and a newer one */
  constructor(merge: (one: Message, other: Message) => Message, most = MOST_ORDERS) {
    this.#merge = merge;
    this.#most = most;
  }

  /**
   * Sends or keeps a message.
   * @returns whether the order exists
   * @throws what `send` throws, unless the message is kept: then it is sent again after the next spacing
   */
  send(order: string, message: Message, send: Send<Message>): Promise<boolean> {
    const known = this.#spacings.get(order);
    if (known?.keeps) {
      this.#keep(known, message, send);
      return known.sent;
    }
    clearTimeout(known?.timer);
    const ms = known === undefined ? FIRST_SPACING_MS : longerSpacing(known.ms);
    const spacing: Spacing<Message> = { ms, sent: send(message), keeps: true };
    this.#spacings.delete(order);
    this.#spacings.set(order, spacing);
    spacing.sent.then(
      (exists) => (exists ? this.#rest(order, spacing) : this.#forget(order, spacing)),
      () => this.#forget(order, spacing),
    );
    this.#forgetOldest();
    return spacing.sent;
  }

  /** Sends every kept message, once. @returns how many could not be sent */
  async close(): Promise<number> {
    const spacings = [...this.#spacings.values()];
    this.#spacings.clear();
    let unsent = 0;
    for (let first = 0; first < spacings.length; first += SENT_AT_A_TIME) {
      const sends = spacings.slice(first, first + SENT_AT_A_TIME).map((spacing) => sendKept(spacing));
      for (const one of await Promise.allSettled(sends)) if (one.status === 'rejected') unsent += 1;
    }
    return unsent;
  }

  #keep(spacing: Spacing<Message>, message: Message, send: Send<Message>): void {
    const { kept } = spacing;
    spacing.kept = { message: kept === undefined ? message : this.#merge(kept.message, message), send };
    spacing.timer?.ref();
  }

  #rest(order: string, spacing: Spacing<Message>): void {
    if (this.#spacings.get(order) !== spacing) return;
    spacing.timer = setTimeout(() => this.#ended(order, spacing), spacing.ms);
    // A process that ends by itself waits for a kept message only.
    if (spacing.kept === undefined) spacing.timer.unref();
  }

  #ended(order: string, spacing: Spacing<Message>): void {
    const { kept } = spacing;
    if (kept === undefined) {
      spacing.keeps = false;
      spacing.timer = setTimeout(() => this.#forget(order, spacing), spacing.ms).unref();
      return;
    }
    delete spacing.kept;
    spacing.ms = longerSpacing(spacing.ms);
    const sent = kept.send(kept.message);
    // A failure must not reach the callers of kept messages, who were told that the order exists.
    spacing.sent = sent.catch(() => true);
    sent.then(
      (exists) => (exists ? this.#rest(order, spacing) : this.#forget(order, spacing)),
      () => {
        const newer = spacing.kept;
        spacing.kept = kept;
        if (newer !== undefined) this.#keep(spacing, newer.message, newer.send);
        this.#rest(order, spacing);
      },
    );
  }

  #forget(order: string, spacing: Spacing<Message>): void {
    if (this.#spacings.get(order) === spacing) this.#spacings.delete(order);
  }

  #forgetOldest(): void {
    if (this.#spacings.size <= this.#most) return;
    const [oldest] = this.#spacings;
    if (oldest === undefined) return;
    const [order, spacing] = oldest;
    this.#spacings.delete(order);
    sendKept(spacing).catch(() => undefined);
  }
}

/** Sends what a spacing keeps without waiting for its end; a send under way is waited for. */
async function sendKept<Message>(spacing: Spacing<Message>): Promise<void> {
  clearTimeout(spacing.timer);
  await spacing.sent.catch(() => undefined);
  const { kept } = spacing;
  delete spacing.kept;
  if (kept !== undefined) await kept.send(kept.message);
}
