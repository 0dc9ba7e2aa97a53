import { randomUUID } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { Integration } from '../../orders/integration.ts';
import { createScreeningClient, ScreeningError } from '../../screening/index.ts';
import { clockFinding, dateHeaderSkew } from './clocks.ts';
import { ANSWER_WITHIN_MS, type Finding, finder } from './finding.ts';

/** Asks the service of each integration, with its key, for a transaction that doesn't exist: that changes nothing. */
export async function checkService({ integrations }: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    [...integrations.values()].map(async (integration) => [
      await checkKey(integration),
      ...checkPortalAddress(integration),
      await checkClock(integration),
    ]),
  );
  return findings.flat();
}

async function checkKey(integration: Integration): Promise<Finding> {
  const { name, baseUrl, portalBaseUrl, dialect, mode } = integration;
  const check = finder(`screening-service:${name}`);
  const apiKey = keyOf(integration);
  if (apiKey === undefined) return check.skipped('its key is not set');
  try {
    const client = createScreeningClient({ baseUrl, portalBaseUrl, dialect, apiKey });
    await client.statusById(randomUUID(), { timeoutMs: ANSWER_WITHIN_MS });
    return notTheService(check, baseUrl);
  } catch (error) {
    if (!(error instanceof ScreeningError)) throw error;
    const { reason } = error;
    if (reason === 'not-found') return check.ok('it answers, and the key is right');
    if (reason === 'malformed-reply') return notTheService(check, baseUrl);
    if (reason === 'forbidden') {
      return check.fault(
        'the screening service refuses the key (403)',
        `Set the key of the variable that apiKeyEnv names, and see that key and baseUrl are both of mode ${mode}`,
      );
    }
    return check.fault(
      `the screening service at ${originOf(baseUrl)} gives no answer to go by (${reason})`,
      'Check baseUrl (SCREENING_BASE_URL), the network, and whether the service is up',
    );
  }
}

function notTheService(check: ReturnType<typeof finder>, baseUrl: string): Finding {
  return check.fault(
    `${originOf(baseUrl)} answers, but not as the screening service does`,
    'Check the path of baseUrl (SCREENING_BASE_URL)',
  );
}

/** No portal operation is harmless, so only the address is looked at. Interface document, "Address placeholders". */
function checkPortalAddress({ name, portalBaseUrl }: Integration): Finding[] {
  if (/\/api\/v1\/transaction-update\/?$/.test(portalBaseUrl)) return [];
  return [
    finder(`portal-address:${name}`).warning(
      'the portal address does not end in /api/v1/transaction-update',
      'Check portalBaseUrl (SCREENING_PORTAL_BASE_URL): cancels and reports go there',
    ),
  ];
}

async function checkClock({ name, baseUrl }: Integration): Promise<Finding> {
  const check = finder(`clock:screening-service:${name}`);
  const skewMs = await dateHeaderSkew(baseUrl, ANSWER_WITHIN_MS);
  if (skewMs === undefined) return check.skipped('the service gives no Date');
  return clockFinding(check, skewMs, 'the screening service');
}

function keyOf(integration: Integration): string | undefined {
  try {
    return integration.apiKey();
  } catch {
    return undefined;
  }
}

/** What may be shown of an address: a path may hold a secret. */
export function originOf(address: string): string {
  return new URL(address).origin;
}
