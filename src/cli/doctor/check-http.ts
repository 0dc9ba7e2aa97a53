/** Whether the API and the receiver of events answer as they should. */
import { randomUUID } from 'node:crypto';
import fetch from 'node-fetch';
import { signedHeaders } from '../../activities/events.ts';
import type { Config, EventsReceiver } from '../../config/index.ts';
import { CHECK_WITHIN_MS, type Finding, finder, originOf } from './check-service.ts';

const MAX_REPLY_BYTES = 1024 * 1024;
/** A type that means nothing to a receiver, which is to answer 2xx to what it doesn't know. */
const PING = 'order-screening.ping';

/**
 * @param apiKeys `list`: as `API_KEYS` is written, since the settings keep only hashes; `file`: they stand in a file, as hashes
 * @param address `http(s)://host:port` of the API; none is configured: undefined
 */
export async function checkApi(
  apiKeys: { list: string | undefined; file: string | undefined },
  address: string | undefined,
): Promise<Finding[]> {
  const check = finder('api');
  if (address === undefined) return [check.skipped('API_HOST and API_PORT are not set; name one with --api')];
  const ready = await answer(`${address}/readyz`);
  const at = originOf(address);
  if (ready === undefined) {
    return [
      check.fault(`the API does not answer at ${at}`, 'Start it (npm run api), or correct API_PORT or --api'),
    ];
  }
  if (ready === 503) {
    return [
      check.fault(
        `the API at ${at} is up and can't reach Temporal`,
        "Check the TEMPORAL_* settings of the API's own process",
      ),
    ];
  }
  if (ready !== 200) {
    return [check.fault(`something at ${at} answers, but not as the API does`, 'Correct API_PORT or --api')];
  }
  const key = /^\s*[\w-]+:([^,]+)/.exec(apiKeys.list ?? '')?.[1]?.trim();
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const allowed = await answer(`${address}/v1/orders?limit=1`, { headers });
  if (allowed === 401 && apiKeys.file !== undefined) {
    return [check.ok(`the API at ${at} is ready, and asks for a key`)];
  }
  if (allowed === 401) {
    return [
      check.fault(
        key === undefined
          ? `the API at ${at} asks for a key`
          : `the API at ${at} refuses the first of API_KEYS`,
        'Set API_KEYS here as for the API, or restart the API with the new ones',
      ),
    ];
  }
  return [check.ok(`the API at ${at} is ready`)];
}

/** What a receiver of events is set by. */
interface SetBy {
  url: string;
  secrets: string;
}

/** Asks the common receiver of events, and each integration's own one. */
export async function checkEvents({ events: { common, own } }: Config): Promise<Finding[]> {
  const nobody =
    own.size === 0
      ? 'nobody is told when an order changes'
      : 'only integrations with an eventsUrl of their own tell it';
  return Promise.all([
    common === undefined
      ? finder('events').skipped(`EVENTS_URL is not set: ${nobody}`)
      : checkReceiver('events', common, { url: 'EVENTS_URL', secrets: 'EVENTS_SECRETS' }),
    ...[...own].map(([name, receiver]) =>
      checkReceiver(`events:${name}`, receiver, {
        url: 'eventsUrl',
        secrets: 'the variable that eventsSecretEnv names',
      }),
    ),
  ]);
}

/** Sends one signed event of a type that means nothing, which shows whether both sides have the same secret. */
async function checkReceiver(name: string, { url, secrets }: EventsReceiver, setBy: SetBy): Promise<Finding> {
  const check = finder(name);
  const id = `doctor-${randomUUID()}`;
  const body = JSON.stringify({ type: PING, occurredAt: new Date().toISOString(), data: {} });
  const headers = signedHeaders(secrets, id, body, new Date());
  const status = await answer(url, { method: 'POST', body, headers });
  const at = originOf(url);
  if (status === undefined) {
    return check.fault(
      `the events receiver at ${at} does not answer`,
      `Start it, or correct ${setBy.url}: events wait for 3 days, then the order needs attention`,
    );
  }
  if (status === 401 || status === 403) {
    return check.fault(
      `the events receiver at ${at} refuses the signature (${status})`,
      `Set the same secret in ${setBy.secrets} and at the receiver: it has to know one of them`,
    );
  }
  if (status >= 200 && status < 300) return check.ok(`the receiver at ${at} takes signed events`);
  return check.fault(
    `the events receiver at ${at} answers ${status} to an event of a type that it doesn't know (${PING})`,
    `Check the path of ${setBy.url}; a receiver answers 2xx to types that it does not know, and 401 to a bad signature`,
  );
}

/** @returns the status; undefined when there is no answer */
async function answer(
  url: string,
  request: { method?: string; body?: string; headers?: Record<string, string> } = {},
): Promise<number | undefined> {
  const response = await fetch(url, {
    ...request,
    redirect: 'manual',
    size: MAX_REPLY_BYTES,
    signal: AbortSignal.timeout(CHECK_WITHIN_MS),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  return response?.status;
}
