import { CardStashError, inspectRedis, type RedisReport } from '../../card-stash/index.ts';
import type { Config } from '../../config/index.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

const PERSISTENCE: Record<RedisReport['persistence'], Finding> = {
  off: ok('the Redis writes nothing to disk'),
  on: failed(
    'the Redis of the card stash writes to disk, so encrypted card data outlives its 15 minutes there',
    'Set save "" and appendonly no in its configuration, and delete the dump files',
  ),
  unknown: warning(
    'the Redis does not report whether it writes to disk',
    'Check there that snapshots and the append-only file are off',
  ),
};

/** Checks the Redis of the card stash. @param oneProcess whether all runs in one process (`npm start`), where `memory:` is enough */
export async function checkCardStash(
  { cardStash, integrations }: Config,
  oneProcess: boolean,
): Promise<Finding | Finding[]> {
  if (cardStash.url === 'memory:') {
    if (oneProcess) return ok('in memory, which is enough for npm start');
    const cards = [...integrations.values()].some(({ workflow }) => workflow === 'pre-gateway');
    const what = 'cards are kept in memory and reach no other process';
    if (!cards) return skipped(`${what}: pre-gateway orders need a Redis`);
    return failed(
      `${what}, and an integration is pre-gateway`,
      'Set CARD_STASH_URL to a Redis and CARD_STASH_KEYS, the same for the API and every worker',
    );
  }
  try {
    const { persistence } = await inspectPatiently(cardStash.url);
    return [
      ok('the Redis answers and takes cards'),
      { check: 'card-stash-persistence', ...PERSISTENCE[persistence] },
    ];
  } catch (error) {
    if (!(error instanceof CardStashError)) throw error;
    if (error.reason === 'unreachable') {
      return failed(
        'the Redis of the card stash does not answer: no pre-gateway order is screened',
        'Start it, or correct CARD_STASH_URL',
      );
    }
    return failed(
      error.message,
      'Check user and password in CARD_STASH_URL, and that it may SET, GET and DEL card:* on a primary',
    );
  }
}

/** Retries the inspection, which gives Redis one second, as a checkout does: a busy machine may need longer. */
function inspectPatiently(url: string, tries = 3): Promise<RedisReport> {
  return inspectRedis(url).catch((error: unknown) => {
    const again = error instanceof CardStashError && error.reason === 'unreachable' && tries > 1;
    if (!again) throw error;
    return inspectPatiently(url, tries - 1);
  });
}
