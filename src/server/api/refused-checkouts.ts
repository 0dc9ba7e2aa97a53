/** Checkouts that were refused for their content: no order was started, so no list of orders shows them. */
import { integrationNameSchema, orderIdSchema } from '../../client/read-requests.ts';
import { hasCode } from '../../contract/errors.ts';
import { DEFAULT_INTEGRATION } from '../../contract/ids.ts';
import { type Instant, instant } from '../../contract/words.ts';

/** A refused checkout, without any value of the request but a valid order id. */
export interface RefusedCheckout {
  at: Instant;
  integration: string;
  /** Absent if the id is not valid, or may contain a card number. */
  orderId?: string;
  fields: readonly string[];
}

const MOST_PER_INTEGRATION = 50;
const MOST_FIELDS = 10;

export type RefusedCheckouts = ReturnType<typeof createRefusedCheckouts>;

/**
 * Counts the refused checkouts of this process, and keeps the newest of each integration.
 * @param configured all integrations. Absent: any name is one
 */
export function createRefusedCheckouts(
  count: (integration: string, fields: readonly string[]) => void,
  configured?: readonly string[],
) {
  let newest: RefusedCheckout[] = [];
  return {
    /**
     * Notes a checkout whose error is about its content.
     * @param request its fields, as they were sent
     * @param allowed the integrations that its key may use: a request may be refused before its integration is
     */
    note(request: { orderId?: unknown; integration?: unknown }, error: unknown, allowed = configured): void {
      if (!hasCode(error, 'invalid-request', 'card-data-in-request')) return;
      const integration = integrationNameSchema.safeParse(request.integration).data ?? DEFAULT_INTEGRATION;
      if (allowed?.includes(integration) === false) return;
      const fields = [...new Set(error.details.errors?.map(({ path }) => fieldOf(path)))];
      count(integration, fields);
      const orderId = fields.includes('orderId') ? undefined : orderIdSchema.safeParse(request.orderId).data;
      const refused = {
        at: instant(Date.now()),
        integration,
        fields: fields.slice(0, MOST_FIELDS),
        ...(orderId !== undefined && { orderId }),
      };
      const dropped = newest.filter((one) => one.integration === integration)[MOST_PER_INTEGRATION - 1];
      newest = [refused, ...newest.filter((one) => one !== dropped)];
    },
    /** Returns the newest first. @param integrations only of these */
    of: (integrations?: readonly string[]) =>
      newest.filter(({ integration }) => integrations?.includes(integration) ?? true),
  };
}

/** Returns a path without what callers may have put into a name: `transaction.lineItems[].price`. */
function fieldOf(path: string): string {
  return path.replaceAll(/[^A-Za-z_.[\]]/g, '').slice(0, 80);
}
