import type { Client } from '@temporalio/client';
import type { CardStash } from '../cards/index.ts';
import { OrderScreeningError } from '../orders/errors.ts';
import { DEFAULT_INTEGRATION } from '../orders/ids.ts';
import type { FindIntegration, Integration } from '../orders/integration.ts';
import type { EarlyAnswers } from './early-answers.ts';

/** What the parts of the client library share. */
export interface ClientContext {
  client: Client;
  findIntegration: FindIntegration;
  cards?: CardStash;
  earlyAnswers?: EarlyAnswers;
}

/** @returns the integration of that name, `default` unless named @throws OrderScreeningError `unknown-integration` */
export function integrationOf(
  { findIntegration }: Pick<ClientContext, 'findIntegration'>,
  name: string = DEFAULT_INTEGRATION,
): Integration {
  const integration = findIntegration(name);
  if (integration === undefined) {
    throw new OrderScreeningError('unknown-integration', 'No integration of that name is configured');
  }
  return integration;
}
