/** Checks the card stash, and whether this process's keys decrypt the stored payloads. */
import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { CardStashError, inspectRedis, type RedisReport } from '../../cards/index.ts';
import { within } from '../../client/temporal-errors.ts';
import { createPayloadCodec, PayloadCodecError } from '../../codec/index.ts';
import type { Config } from '../../config/index.ts';
import { SCREEN_ORDER } from '../../contract/messages.ts';
import { connectTemporal, type KeySettings, payloadKeysOf } from '../connect.ts';
import { CHECK_WITHIN_MS, type Finding, failed, ok, skipped, type Verdict, warning } from './finding.ts';

const PERSISTENCE: Record<RedisReport['persistence'], Verdict> = {
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
): Promise<(Verdict | Finding)[]> {
  if (cardStash.url === 'memory:') {
    if (oneProcess) return [ok('in memory, which is enough for npm start')];
    const cards = [...integrations.values()].some(({ workflow }) => workflow === 'pre-gateway');
    const what = 'cards are kept in memory and reach no other process';
    if (!cards) return [skipped(`${what}: pre-gateway orders need a Redis`)];
    return [
      failed(
        `${what}, and an integration is pre-gateway`,
        'Set CARD_STASH_URL to a Redis and CARD_STASH_KEYS, the same for the API and every worker',
      ),
    ];
  }
  try {
    const { persistence } = await inspectPatiently(cardStash.url);
    return [
      ok('the Redis answers and takes cards'),
      { check: 'card-stash-persistence', ...PERSISTENCE[persistence] },
    ];
  } catch (error) {
    if (!(error instanceof CardStashError)) throw error;
    return [
      error.reason === 'unreachable'
        ? failed(
            'the Redis of the card stash does not answer: no pre-gateway order is screened',
            'Start it, or correct CARD_STASH_URL',
          )
        : failed(
            error.message,
            'Check user and password in CARD_STASH_URL, and that it may SET, GET and DEL card:* on a primary',
          ),
    ];
  }
}

/** Retries the inspection, which gives Redis one second, as a checkout does: a busy machine may need longer. */
async function inspectPatiently(url: string, tries = 3): Promise<RedisReport> {
  try {
    return await inspectRedis(url);
  } catch (error) {
    const again = error instanceof CardStashError && error.reason === 'unreachable' && tries > 1;
    if (!again) throw error;
    return inspectPatiently(url, tries - 1);
  }
}

/** The number of newest orders checked, and of first and last history events of each: the starter's and the worker's payloads. */
const ORDERS = 5;
const EVENTS = 10;

/** Decrypts stored payloads of the newest orders with this process's keys. */
export async function checkPayloadKeys(
  settings: Pick<Config, KeySettings | 'payloadsRequired'>,
): Promise<Verdict[]> {
  const stored = await newestPayloads(settings).catch(() => undefined);
  if (stored === undefined) return [skipped('the server does not return the histories of the orders')];
  if (stored.length === 0) return [skipped('no order is stored yet')];
  const { decode } = createPayloadCodec(await payloadKeysOf(settings), {
    required: settings.payloadsRequired,
  });
  const errors = new Set<string>();
  for (const payload of stored) {
    await decode([payload]).catch((error: unknown) => {
      if (!(error instanceof PayloadCodecError)) throw error;
      errors.add(error.message);
    });
  }
  if (errors.size === 0) return [ok('the stored data of the newest orders can be decrypted')];
  return [...errors].map((words) =>
    failed(
      `${words}: with these settings such an order can neither be read nor continue`,
      'Set the same PAYLOAD_KEYS for the API, every worker and every client, with one key per id; set PAYLOADS_REQUIRED only when no open order was started unencrypted',
    ),
  );
}

async function newestPayloads({ temporal }: Pick<Config, 'temporal'>): Promise<Payload[]> {
  const { namespace } = temporal;
  const client = new Client({ connection: await connectTemporal(temporal), namespace });
  const { workflowService } = client;
  return within(client, Date.now() + CHECK_WITHIN_MS, async () => {
    const query = `WorkflowType = '${SCREEN_ORDER}'`;
    const { executions } = await workflowService.listWorkflowExecutions({
      namespace,
      query,
      pageSize: ORDERS,
    });
    const pages = await Promise.all(
      executions.flatMap(({ execution }) => {
        const asked = { namespace, ...(execution && { execution }), maximumPageSize: EVENTS };
        return [
          workflowService.getWorkflowExecutionHistory(asked),
          workflowService.getWorkflowExecutionHistoryReverse(asked),
        ];
      }),
    );
    return pages.flatMap(({ history }) => payloadsIn(history?.events));
  });
}

/** Returns the payloads anywhere in a message of Temporal's API, except search attributes, which are never encrypted. */
function payloadsIn(message: unknown): Payload[] {
  if (typeof message !== 'object' || message === null || message instanceof Uint8Array) return [];
  const metadata: unknown = 'metadata' in message ? message.metadata : undefined;
  if (typeof metadata === 'object' && metadata !== null && 'encoding' in metadata) return [message];
  return Object.entries(message).flatMap(([name, value]) =>
    name === 'searchAttributes' ? [] : payloadsIn(value),
  );
}
