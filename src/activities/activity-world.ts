/** What the activities stand on; put together by the worker. */
import { ApplicationFailure } from '@temporalio/common';
import type { CardStash } from '../cards/index.ts';
import type { FindIntegration, Integration } from '../orders/integration.ts';
import { createScreeningClient, type ScreeningClient } from '../screening/index.ts';
import type { BeforeRecord } from './before-record.ts';
import type { EventSender } from './event-sender.ts';
import type { OrderDirectory } from './order-directory.ts';

export interface ActivityWorld {
  findIntegration: FindIntegration;
  cards: CardStash;
  /** Absent: nobody wants events. */
  events?: EventSender;
  /** Absent where no sweep runs. */
  orders?: OrderDirectory;
  /** Absent where no caller waits in the same process. */
  beforeRecord?: BeforeRecord;
}

/**
 * @returns the integration; one that is gone from the settings is an operator's mistake
 * @throws a failure that the server retries, so that the order goes on when the settings are right again
 */
export function integrationOf(world: ActivityWorld, name: string): Integration {
  const integration = world.findIntegration(name);
  if (integration !== undefined) return integration;
  throw ApplicationFailure.retryable(`no integration «${name}» is configured`, 'unknown-integration');
}

/**
 * @returns a client for the integration, with its address and key as they are now
 * @throws a failure that the server retries when there is no key: an operator's mistake, too
 */
export function clientOf(integration: Integration): ScreeningClient {
  const { baseUrl, portalBaseUrl, dialect } = integration;
  return createScreeningClient({ baseUrl, portalBaseUrl, dialect, apiKey: keyOf(integration) });
}

function keyOf(integration: Integration): string {
  try {
    return integration.apiKey();
  } catch {
    throw ApplicationFailure.retryable(`integration «${integration.name}» has no API key`, 'no-api-key');
  }
}
