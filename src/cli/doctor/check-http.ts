/** Checks the screening service, the API and the events receivers. */
import { randomUUID } from 'node:crypto';
import { signedHeaders } from '../../activities/events.ts';
import type { Config, EventsReceiver } from '../../config/index.ts';
import type { Integration } from '../../contract/policy.ts';
import { createScreeningClient, ScreeningError } from '../../screening-service/index.ts';
import {
  ask,
  CHECK_WITHIN_MS,
  type Finding,
  failed,
  find,
  ok,
  originOf,
  skipped,
  warning,
} from './finding.ts';

// The screening service.

/** Requests a transaction that doesn't exist from each integration's screening service, with its key. Changes nothing. */
export async function checkService({ integrations }: Config): Promise<Finding[]> {
  const findings = [...integrations.values()].flatMap((integration) => [
    find(`screening-service:${integration.name}`, () => checkKey(integration)),
    checkPortalAddress(integration),
    find(`clock:screening-service:${integration.name}`, () => checkClock(integration)),
  ]);
  return (await Promise.all(findings)).flat();
}

async function checkKey(integration: Integration): Promise<Finding> {
  const { baseUrl, mode } = integration;
  const apiKey = integration.apiKey();
  if (!apiKey) return skipped('its key is not set');
  const reason = await createScreeningClient({ ...integration, apiKey })
    .statusById(randomUUID(), { timeoutMs: CHECK_WITHIN_MS })
    .then(
      () => 'other-transaction',
      (error: unknown) => {
        if (error instanceof ScreeningError) return error.reason;
        throw error;
      },
    );
  switch (reason) {
    case 'not-found':
      return ok('it answers, and the key is right');
    case 'malformed-reply':
    case 'other-transaction':
      return failed(
        `${originOf(baseUrl)} answers, but not as the screening service does`,
        'Check the path of baseUrl (SCREENING_BASE_URL)',
      );
    case 'forbidden':
      return failed(
        'the screening service refuses the key (403)',
        `Set the key of the variable that apiKeyEnv names, and check that key and baseUrl are both of mode ${mode}`,
      );
    default:
      return failed(
        `the screening service at ${originOf(baseUrl)} gives no usable answer (${reason})`,
        'Check baseUrl (SCREENING_BASE_URL), the network, and whether the screening service is up',
      );
  }
}

/** Checks only the address, since every portal operation changes something. */
function checkPortalAddress({ name, portalBaseUrl }: Integration): Finding[] {
  if (/\/api\/v1\/transaction-update\/?$/.test(portalBaseUrl)) return [];
  const wrong = warning(
    'the portal address does not end in /api/v1/transaction-update',
    'Check portalBaseUrl (SCREENING_PORTAL_BASE_URL): cancels and reports go there',
  );
  return [{ check: `portal-address:${name}`, ...wrong }];
}

/** Recorded times mislead long before signatures are refused, at 5 minutes. */
const WARN_MS = 5_000;
/** Nothing is sent in the last 30 s of a cancel window; with nearly this much skew a cancel may be sent too late. */
const ERROR_MS = 25_000;

/** Compares this machine's clock with the Date header of the screening service. */
async function checkClock({ baseUrl }: Integration): Promise<Finding> {
  const sent = Date.now();
  const response = await ask(baseUrl, { method: 'HEAD' });
  if (response === undefined) return skipped('the screening service does not answer');
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(date)) return skipped('the screening service sends no Date header');
  // The header is truncated to whole seconds.
  const skewMs = date + 500 - (sent + Date.now()) / 2;
  const off = Math.abs(skewMs);
  if (off < WARN_MS) return ok('the clocks of this machine and of the screening service agree');
  const what = `the clock of the screening service is ${(off / 1_000).toFixed(0)} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  const todo = 'Synchronize the clocks (NTP) of the machines: cancel windows depend on them';
  return off < ERROR_MS ? warning(what, todo) : failed(what, todo);
}

// The API.

/**
 * @param apiKeys `list`: the text of `API_KEYS`, since the settings keep only hashes; `file`: the file with hashes of the keys
 * @param address `http(s)://host:port` of the API; undefined if none is configured
 */
export async function checkApi(
  apiKeys: { list: string | undefined; file: string | undefined },
  address: string | undefined,
): Promise<Finding> {
  if (address === undefined) return skipped('API_HOST and API_PORT are not set; name one with --api');
  const at = originOf(address);
  const ready = await ask(`${address}/readyz`);
  if (ready === undefined) {
    return failed(`the API does not answer at ${at}`, 'Start it (npm run api), or correct API_PORT or --api');
  }
  if (ready.status === 503) {
    return failed(
      `the API at ${at} is up and can't reach Temporal`,
      "Check the TEMPORAL_* settings of the API's own process",
    );
  }
  if (ready.status !== 200) {
    return failed(`something at ${at} answers, but not as the API does`, 'Correct API_PORT or --api');
  }
  const key = /^\s*[\w-]+:([^,]+)/.exec(apiKeys.list ?? '')?.[1]?.trim();
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const listed = await ask(`${address}/v1/orders?limit=1`, { headers });
  if (listed === undefined || listed.status >= 500) {
    return failed(
      `the API at ${at} does not list its orders (${listed?.status ?? 'no answer'})`,
      "Read the API's log, and compare its TEMPORAL_* settings and PAYLOAD_KEYS with the workers'",
    );
  }
  if (listed.status !== 401) return ok(`the API at ${at} is ready`);
  if (apiKeys.file !== undefined) return ok(`the API at ${at} is ready, and asks for a key`);
  return failed(
    `the API at ${at} ${key === undefined ? 'asks for a key' : 'refuses the first of API_KEYS'}`,
    'Set API_KEYS here as for the API, or restart the API with the new ones',
  );
}

// The receivers of events.

/** An event type that receivers don't know; they must answer 2xx to unknown types. */
const PING = 'order-screening.ping';

export async function checkEvents({ events: { common, own } }: Config): Promise<Finding[]> {
  const effect =
    own.size === 0
      ? 'no event is sent when an order changes'
      : 'only integrations with their own eventsUrl send events';
  const ofOwn = [...own].map(async ([name, receiver]) => ({
    check: `events:${name}`,
    ...(await checkReceiver(receiver, 'eventsUrl', 'the variable that eventsSecretEnv names')),
  }));
  return Promise.all([
    common === undefined
      ? skipped(`EVENTS_URL is not set: ${effect}`)
      : checkReceiver(common, 'EVENTS_URL', 'EVENTS_SECRETS'),
    ...ofOwn,
  ]);
}

/**
 * Sends one signed event of an unknown type, which shows whether both sides have the same secret.
 * @param urlSetting the setting of the address; `secretSetting` the one of the secrets
 */
async function checkReceiver(
  { url, secrets }: EventsReceiver,
  urlSetting: string,
  secretSetting: string,
): Promise<Finding> {
  const body = JSON.stringify({ type: PING, occurredAt: new Date().toISOString(), data: {} });
  const headers = signedHeaders(secrets, `doctor-${randomUUID()}`, body, new Date());
  const { status } = (await ask(url, { method: 'POST', body, headers })) ?? {};
  const receiver = `the events receiver at ${originOf(url)}`;
  if (status === undefined) {
    return failed(
      `${receiver} does not answer`,
      `Start it, or correct ${urlSetting}: events wait for 3 days, then the order needs attention`,
    );
  }
  if (status === 401 || status === 403) {
    return failed(
      `${receiver} refuses the signature (${status})`,
      `Set the same secret in ${secretSetting} and at the receiver; one of several is enough`,
    );
  }
  if (status >= 200 && status < 300) return ok(`the receiver at ${originOf(url)} takes signed events`);
  return failed(
    `${receiver} answers ${status} to an event of a type that it doesn't know (${PING})`,
    `Check the path of ${urlSetting}; a receiver must answer 2xx to unknown types, and 401 to a bad signature`,
  );
}
