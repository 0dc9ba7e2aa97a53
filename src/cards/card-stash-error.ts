/**
 * `unreachable`: no answer in time, or no connection. `refused`: the stash answered with an error, such as for a wrong
 * password. `unknown-key`: the card is there, but this process lacks the key that sealed it.
 */
export type CardStashErrorReason = 'unreachable' | 'refused' | 'unknown-key';

/** Thrown by a card stash. It names no address and holds no password, no card data and no cause. */
export class CardStashError extends Error {
  override readonly name = 'CardStashError';
  readonly reason: CardStashErrorReason;

  constructor(reason: CardStashErrorReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
