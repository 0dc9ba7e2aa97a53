/** A portal action that runs by itself: of an order that is closed, or of a bare transaction id. Design section 3.5. */
import { portalInputRefusal } from '../orders/check-messages.ts';
import { DEFAULT_INTEGRATION } from '../orders/ids.ts';
import type { PortalActionInput, PortalAnswer } from '../orders/messages.ts';
import { lastCallMs } from '../orders/window.ts';
import { instant } from '../orders/words.ts';
import { failure } from './failures.ts';
import { untilAllowed } from './until-allowed.ts';
import { wasReset } from './was-reset.ts';
import { portal } from './world.ts';

/**
 * Sends one portal action durably.
 * @returns the service's answer once it is done
 * @throws `invalid-request`, `no-transaction`, `refused-by-screening-service`, `outcome-unknown`, `cancel-window-closed`, `cancel-window-unknown`
 */
export async function portalAction(input: PortalActionInput): Promise<PortalAnswer> {
  const refused = portalInputRefusal(input);
  if (refused !== undefined) throw failure(refused.code, refused.message, { errors: refused.errors ?? [] });
  const { fields, transactionId, cancelBy, integration = DEFAULT_INTEGRATION } = input;
  if (fields.kind !== 'customer-code' && transactionId === undefined) {
    throw failure('no-transaction', 'Name the transaction.');
  }
  if (fields.kind === 'cancel' && (cancelBy === undefined || input.cancelWindowMs === undefined)) {
    throw failure(
      'cancel-window-unknown',
      'The cancel window of a bare transaction is not known: cancel it in the portal.',
    );
  }
  const request = {
    integration,
    fields,
    ...(transactionId !== undefined && { transactionId }),
    ...(cancelBy !== undefined &&
      input.cancelWindowMs !== undefined &&
      fields.kind === 'cancel' && { notAfter: instant(lastCallMs(cancelBy, input.cancelWindowMs)) }),
  };
  let forbiddenKnown = false;
  const outcome = await untilAllowed(
    () => portal.performPortalAction({ ...request, forbiddenKnown, maybeDone: wasReset() }),
    () => {
      forbiddenKnown = true;
    },
  );
  switch (outcome.kind) {
    case 'done':
      return {
        integration,
        kind: fields.kind,
        status: 'done',
        at: instant(Date.now()),
        ...(input.orderId !== undefined && { orderId: input.orderId }),
        ...(transactionId !== undefined && { transactionId }),
        ...(outcome.code !== undefined && { code: outcome.code }),
        ...(outcome.message !== undefined && { message: outcome.message }),
      };
    case 'refused':
      throw failure(
        'refused-by-screening-service',
        `The screening service refused it: ${outcome.message ?? 'no words'}`,
        {
          ...(outcome.code !== undefined && { serviceCode: outcome.code }),
          ...(outcome.message !== undefined && { serviceMessage: outcome.message }),
        },
      );
    case 'unconfirmed':
      throw failure(
        'outcome-unknown',
        'Nobody knows whether it was done: look in the portal before you send it again.',
      );
    case 'too-late':
      throw failure(
        'cancel-window-closed',
        'The cancel window closed.',
        cancelBy === undefined ? {} : { cancelBy },
      );
  }
}
