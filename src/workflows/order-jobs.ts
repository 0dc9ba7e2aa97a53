/** Begins each kind of background job of an order. */
import { isCancellation } from '@temporalio/workflow';
import { wrongKeyKnown } from '../orders/attention.ts';
import type { Job } from '../orders/jobs.ts';
import { currentAttempt } from '../orders/new-order.ts';
import type { Attempt, OrderState } from '../orders/state.ts';
import { mayHoldUnknown } from '../orders/transactions.ts';
import { instant } from '../orders/words.ts';
import type { LookUpRequest, ScreenRequest } from '../orders/world.ts';
import type { Finished } from './background-jobs.ts';
import type { OrderContext } from './order-context.ts';
import { cards, creating, gateway, looking, polls } from './world.ts';

/** Runs a job to its end. Every activity here is retried by the server until it has something to say. */
export async function runJob(context: OrderContext, job: Job): Promise<Finished> {
  const { order } = context;
  const { integration } = order;
  const forbiddenKnown = wrongKeyKnown(order);
  const since = instant(Date.now());
  switch (job.kind) {
    case 'catch-up': {
      const { kind, attempt, rescreen } = job;
      const maybeSent = attempt.maybeSentSince !== undefined;
      const maybeUnderWay = mayHoldUnknown(attempt);
      const request = { ...screenRequest(context, maybeSent), forbiddenKnown, maybeUnderWay };
      attempt.maybeSentSince ??= since;
      attempt.createOpen = true;
      return { kind, attempt, rescreen, since, outcome: await creating.catchUp(request) };
    }
    case 'poll': {
      const { kind, attempt, transactionId } = job;
      const { decision, policy } = order;
      if (policy === undefined || decision === 'pending' || decision === 'skipped') throw neverWanted(kind);
      const outcome = await polls.pollStatus({
        integration,
        transactionId,
        attempt: attempt.number,
        known: decision,
        pauses: policy.poll,
        forbiddenKnown,
        troubleKnown: order.attention.some((one) => one.code === 'status-error'),
        ...(attempt.cancelBy !== undefined && { cancelBy: attempt.cancelBy }),
      });
      return { kind, transactionId, since, outcome };
    }
    case 'read': {
      const { kind, attempt, transactionId, source } = job;
      const about = { integration, transactionId, attempt: attempt.number };
      const outcome = await looking.readStatusDurably({ ...about, forbiddenKnown });
      return { kind, transactionId, source, since, outcome };
    }
    case 'gateway': {
      const { kind, attempt, transactionId } = job;
      const { result, authcode, transactionId: gatewaysOwn } = job.gateway;
      const outcome = await gateway.sendGatewayResponse({
        integration,
        transactionId,
        attempt: attempt.number,
        gateway: {
          result,
          ...(authcode !== undefined && { authcode }),
          ...(gatewaysOwn !== undefined && { transactionId: gatewaysOwn }),
        },
        forbiddenKnown,
      });
      return { kind, attempt, result, outcome };
    }
    case 'look-up': {
      const { kind, attempt } = job;
      const outcome = await looking.lookUp(lookUpRequest(context, attempt));
      return { kind, attempt, outcome };
    }
    case 'forget-card': {
      const { kind, attempt, cardRef } = job;
      // When it can't be told, the stash forgets by itself once its time is up.
      await cards.forgetCard({ cardRef, attempt: attempt.number }).catch(rethrowCancellation);
      return { kind, attempt };
    }
  }
}

/** @returns the request for a look at what the attempt's newest create may have left */
export function lookUpRequest(context: OrderContext, attempt: Attempt): LookUpRequest {
  const { order } = context;
  return {
    integration: order.integration,
    attempt: attempt.number,
    invoiceNumber: attempt.invoiceNumber ?? context.invoiceNumber(attempt),
    knownTransactionIds: knownTransactionIds(order),
    forbiddenKnown: wrongKeyKnown(order),
  };
}

/** @returns the request for a try at a decision of the newest attempt */
export function screenRequest(context: OrderContext, lookFirst: boolean): ScreenRequest {
  const { order } = context;
  const attempt = currentAttempt(order);
  // What became of the create before is to be found out first, by the number that it was sent with.
  const open = mayHoldUnknown(attempt) || attempt.unreadableId !== undefined;
  const invoiceNumber = (open ? attempt.invoiceNumber : undefined) ?? context.invoiceNumber(attempt);
  attempt.invoiceNumber = invoiceNumber;
  return {
    orderId: order.orderId,
    integration: order.integration,
    attempt: attempt.number,
    transaction: context.transaction,
    invoiceNumber,
    knownTransactionIds: knownTransactionIds(order),
    lookFirst,
    ...(order.policy !== undefined && { workflow: order.policy.workflow }),
    ...(attempt.cardRef !== undefined && { cardRef: attempt.cardRef }),
  };
}

/** @returns the ids that a look by invoice may not adopt; one whose answer couldn't be read may be, it is read again so */
function knownTransactionIds(order: OrderState): string[] {
  return order.attempts.flatMap((attempt) =>
    attempt.transactionIds.filter((id) => id !== attempt.unreadableId),
  );
}

function rethrowCancellation(error: unknown): void {
  if (isCancellation(error)) throw error;
}

function neverWanted(kind: Job['kind']): TypeError {
  return new TypeError(`an order in this state wants no ${kind}`);
}
