import { type CardOwner, CardStashError } from '../cards/index.ts';
import { OrderScreeningError } from '../orders/errors.ts';
import type { CardData } from '../screening/index.ts';
import type { ClientContext } from './context.ts';

/**
 * Puts full card data in the stash.
 * @throws OrderScreeningError `card-stash-unavailable`: nothing was sent to Temporal; TypeError without a stash
 */
export async function putCard(
  { cards }: Pick<ClientContext, 'cards'>,
  entry: CardOwner & { card: CardData },
): Promise<{ cardRef: string; expiresAt: string }> {
  if (cards === undefined) throw new TypeError('full card data needs a card stash: pass `cards`');
  try {
    return await cards.put(entry);
  } catch (error) {
    if (!(error instanceof CardStashError)) throw error;
    throw new OrderScreeningError(
      'card-stash-unavailable',
      `${error.message}, so nothing was screened: send the same request again`,
    );
  }
}
