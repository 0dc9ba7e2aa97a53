/** Reads a transaction from the screening service, and looks up the order that owns it. */
import { z } from 'zod';
import { refuseCardInId } from '../../card-data/card-data.ts';
import type { TransactionStatus } from '../../contract/answers.ts';
import { OrderScreeningError } from '../../contract/errors.ts';
import type { Integration } from '../../contract/policy.ts';
import { defined } from '../../order/defined.ts';
import {
  createScreeningClient,
  readFailure,
  type ScreeningClient,
  ScreeningError,
} from '../../screening-service/index.ts';
import { ownersOf } from '../lists/visibility.ts';
import { checked, integrationOf, orderIdSchema } from '../read-requests.ts';
import { READ_WITHIN_MS } from '../temporal-errors.ts';
import type { ClientContext, TransactionLookup } from '../types.ts';

/** Invoice numbers have the limits of order ids. */
const lookupSchema = z.object({ idOrInvoice: orderIdSchema });

export async function readTransaction(
  context: ClientContext,
  { integration: name, ...given }: TransactionLookup,
): Promise<TransactionStatus> {
  const integration = integrationOf(context, name);
  refuseCardInId('idOrInvoice', given.idOrInvoice, integration);
  const { idOrInvoice } = checked(lookupSchema, given);
  const read = await screeningClientOf(integration)
    .status(idOrInvoice, { timeoutMs: READ_WITHIN_MS })
    .catch((error: unknown) => {
      if (!(error instanceof ScreeningError)) throw error;
      // The error is not kept as a cause: logs and callers get its code and words only.
      const { code, message } = readFailure(error);
      throw new OrderScreeningError(code, message);
    });
  const { id, decision, message } = read;
  const [order] = await ownersOf(context, id);
  return defined({ id, decision, message, order });
}

/**
 * Returns a client of the screening service for an integration.
 * @throws OrderScreeningError `screening-service-unavailable` when this process has no API key for it
 */
export function screeningClientOf(integration: Integration): ScreeningClient {
  const apiKey = integration.apiKey();
  if (!apiKey) {
    const words =
      'This process has no API key of the screening service: set the variable that apiKeyEnv names';
    throw new OrderScreeningError('screening-service-unavailable', words);
  }
  return createScreeningClient({ ...integration, apiKey });
}
