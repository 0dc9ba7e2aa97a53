/** Rate-limits the messages of a process to each order: one per spacing. Messages in between are merged into one. */
import { FIRST_SPACING_MS, longerSpacing } from '../../order/spacing.ts';

/** The maximum number of orders tracked; the oldest are dropped. */
const MOST_ORDERS = 10_000;
/** Queued messages sent concurrently when the process stops. */
const SENT_AT_A_TIME = 100;

interface Spacing<Message> {
  ms: number;
  /** When it ends, by the monotonic clock. Infinity while a send is running. */
  endsAt: number;
  /** The last send whose outcome callers share. */
  sent: Promise<boolean>;
  /** The merged message that is queued until the spacing ends, or none. */
  queued: Message[];
  /** Set while a message is queued and no send is running, so that only a queued message keeps the process running. */
  timer?: NodeJS.Timeout;
}

/**
 * Sends a message at once after a quiet period, and queues messages during a spacing until it ends. The spacing starts at 2 s. It
 * doubles, up to 5 min, while messages arrive within it or within the same time after it.
 */
export class SpacedSends<Message> {
  readonly #spacings = new Map<string, Spacing<Message>>();
  readonly #sendNow: (order: string, message: Message) => Promise<boolean>;
  readonly #merge: (one: Message, other: Message) => Message;
  readonly #most: number;

  /**
   * @param sendNow sends a message, and returns whether the order exists
   * @param merge merges a queued message with a newer one
   */
  constructor(
    sendNow: (order: string, message: Message) => Promise<boolean>,
    merge: (one: Message, other: Message) => Message,
    most = MOST_ORDERS,
  ) {
    this.#sendNow = sendNow;
    this.#merge = merge;
    this.#most = most;
  }

  /**
   * Sends or queues a message.
   * @returns whether the order exists
   * @throws the error of `sendNow`, unless the message is queued: then it is sent again after the next spacing
   */
  send(order: string, message: Message): Promise<boolean> {
    const known = this.#spacings.get(order);
    const now = performance.now();
    if (known && (known.queued.length > 0 || now < known.endsAt)) {
      known.queued = [[...known.queued, message].reduce(this.#merge)];
      this.#wait(order, known);
      return known.sent;
    }
    const isFlood = known !== undefined && now < known.endsAt + known.ms;
    const ms = isFlood ? longerSpacing(known.ms) : FIRST_SPACING_MS;
    const spacing = { ms, endsAt: Infinity, sent: this.#sendNow(order, message), queued: [] };
    this.#spacings.delete(order);
    this.#spacings.set(order, spacing);
    this.#restAfter(order, spacing);
    const [oldest] = this.#spacings;
    if (oldest !== undefined && this.#spacings.size > this.#most) {
      this.#spacings.delete(oldest[0]);
      this.#flush(...oldest).catch(() => undefined);
    }
    return spacing.sent;
  }

  /** Sends every queued message, once. @returns how many could not be sent */
  async close(): Promise<number> {
    const spacings = [...this.#spacings];
    this.#spacings.clear();
    let unsent = 0;
    while (spacings.length > 0) {
      const sends = spacings.splice(0, SENT_AT_A_TIME).map((entry) => this.#flush(...entry));
      for (const one of await Promise.allSettled(sends)) if (one.status === 'rejected') unsent += 1;
    }
    return unsent;
  }

  /** Starts the time of a spacing after its send. An order that doesn't exist has none, and neither does a send that failed. */
  #restAfter(order: string, spacing: Spacing<Message>): void {
    const rest = (exists: boolean): void => {
      if (this.#spacings.get(order) !== spacing) return;
      spacing.endsAt = performance.now() + spacing.ms;
      if (exists) this.#wait(order, spacing);
      else this.#spacings.delete(order);
    };
    spacing.sent.then(rest, () => rest(false));
  }

  #wait(order: string, spacing: Spacing<Message>): void {
    if (spacing.queued.length === 0 || spacing.endsAt === Infinity) return;
    spacing.timer ??= setTimeout(() => this.#ended(order, spacing), spacing.endsAt - performance.now());
  }

  #ended(order: string, spacing: Spacing<Message>): void {
    const message = spacing.queued.reduce(this.#merge);
    Object.assign(spacing, { ms: longerSpacing(spacing.ms), endsAt: Infinity, queued: [], timer: undefined });
    // Callers of queued messages already got the answer that the order exists, so a failure must not reach them.
    spacing.sent = this.#sendNow(order, message).catch(() => {
      spacing.queued = [[message, ...spacing.queued].reduce(this.#merge)];
      return true;
    });
    this.#restAfter(order, spacing);
  }

  /** Sends the queued message without waiting for the spacing to end; waits for a running send first. */
  async #flush(order: string, spacing: Spacing<Message>): Promise<void> {
    clearTimeout(spacing.timer);
    await spacing.sent.catch(() => undefined);
    for (const message of spacing.queued) await this.#sendNow(order, message);
  }
}
