import { CardStashError, inspectRedis, type RedisReport } from '../../cards/index.ts';
import type { Config } from '../../config.ts';
import { type Finding, finder } from './finding.ts';

/** Looks at the Redis of the card stash. @param oneProcess `npm start`, where `memory:` is enough */
export async function checkCardStash(
  { cardStash, integrations }: Config,
  oneProcess: boolean,
): Promise<Finding[]> {
  const check = finder('card-stash');
  if (cardStash.url === 'memory:') {
    if (oneProcess) return [check.ok('in memory, which is enough for npm start')];
    const cards = [...integrations.values()].some(({ workflow }) => workflow === 'pre-gateway');
    const what = 'cards are kept in memory and reach no other process';
    const todo = 'Set CARD_STASH_URL to a Redis and CARD_STASH_KEYS, the same for the API and every worker';
    if (cards) return [check.fault(`${what}, and an integration is pre-gateway`, todo)];
    return [check.skipped(`${what}: pre-gateway orders need a Redis`)];
  }
  try {
    const { persistence } = await inspectPatiently(cardStash.url);
    return [check.ok('the Redis answers and takes cards'), persistenceFinding(persistence)];
  } catch (error) {
    if (!(error instanceof CardStashError)) throw error;
    if (error.reason === 'unreachable') {
      return [
        check.fault(
          'the Redis of the card stash does not answer: no pre-gateway order is screened',
          'Start it, or correct CARD_STASH_URL',
        ),
      ];
    }
    return [
      check.fault(
        error.message,
        'Check user and password in CARD_STASH_URL, and that it may SET, GET and DEL card:* on a primary',
      ),
    ];
  }
}

/** The stash gives Redis one second, as a checkout does; a busy machine gets several. */
async function inspectPatiently(url: string, tries = 3): Promise<RedisReport> {
  try {
    return await inspectRedis(url);
  } catch (error) {
    const again = error instanceof CardStashError && error.reason === 'unreachable' && tries > 1;
    if (!again) throw error;
    return inspectPatiently(url, tries - 1);
  }
}

function persistenceFinding(persistence: RedisReport['persistence']): Finding {
  const check = finder('card-stash-persistence');
  if (persistence === 'off') return check.ok('the Redis writes nothing to disk');
  if (persistence === 'on') {
    return check.fault(
      'the Redis of the card stash writes to disk: card data, though encrypted, would outlive its 15 minutes there',
      'Set save "" and appendonly no in its configuration, and delete the dump files',
    );
  }
  return check.warning(
    'the Redis does not tell whether it writes to disk',
    'Look there that snapshots and the append-only file are off',
  );
}
