/** Rate-limits the messages of a process to each order: one per spacing. Messages in between are merged into one. */
import { FIRST_SPACING_MS, longerSpacing } from '../../order/spacing.ts';

/** The maximum number of orders tracked; the oldest are dropped. */
const MOST_ORDERS = 10_000;
/** Queued messages sent concurrently when the process stops. */
const SENT_AT_A_TIME = 100;

/** Sends a message. @returns whether the order exists */
type Send<Message> = (message: Message) => Promise<boolean>;

interface Spacing<Message> {
  ms: number;
  /** The last send whose outcome callers share. */
  sent: Promise<boolean>;
  /** Whether new messages are queued: a send is running, or its spacing has not ended. */
  keeps: boolean;
  kept?: { message: Message; send: Send<Message> };
  timer?: NodeJS.Timeout;
}

/**
 * Sends a message at once after a quiet period, and queues messages during a spacing until it ends. The spacing starts at 2 s. It
 * doubles, up to 5 min, while messages arrive within it or within the same time after it.
 */
export class SpacedSends<Message> {
  readonly #spacings = new Map<string, Spacing<Message>>();
  readonly #merge: (one: Message, other: Message) => Message;
  readonly #most: number;

  /** @param merge merges a queued message with a newer one */
  constructor(merge: (one: Message, other: Message) => Message, most = MOST_ORDERS) {
    this.#merge = merge;
    this.#most = most;
  }

  /**
   * Sends or queues a message.
   * @returns whether the order exists
   * @throws the error of `send`, unless the message is queued: then it is sent again after the next spacing
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

  /** Sends every queued message, once. @returns how many could not be sent */
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
    // Only a queued message keeps the process running.
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
    // Callers of queued messages already got the answer that the order exists, so a failure must not reach them.
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

/** Sends the queued message without waiting for the spacing to end; waits for a running send first. */
async function sendKept<Message>(spacing: Spacing<Message>): Promise<void> {
  clearTimeout(spacing.timer);
  await spacing.sent.catch(() => undefined);
  const { kept } = spacing;
  delete spacing.kept;
  if (kept !== undefined) await kept.send(kept.message);
}
