/** Begins each kind of background job of an order. */
import { wrongKeyKnown } from '../orders/attention.ts';
import type { Job } from '../orders/jobs.ts';
import { currentAttempt } from '../orders/new-order.ts';
import type { Attempt, OrderState } from '../orders/state.ts';
import { instant } from '../orders/words.ts';
import type { ScreenRequest } from '../orders/world.ts';
import type { Finished } from './background-jobs.ts';
import type { OrderContext } from './order-context.ts';
import { cards, creating, gateway, looking, polls } from './world.ts';

/** Runs a job to its end. Every activity here is retried by the server until it has something to say. */
export async function runJob(context: OrderContext, job: Job): Promise<Finished> {
  const { order } = context;
  const { integration } = order;
  const forbiddenKnown = wrongKeyKnown(order);
  switch (job.kind) {
    case 'catch-up': {
      const attempt = currentAttempt(order);
      const since = instant(Date.now());
      const request = { ...screenRequest(context, attempt.maybeSentSince !== undefined), forbiddenKnown };
      attempt.maybeSentSince ??= since;
      return { kind: job.kind, job, since, outcome: await creating.catchUp(request) };
    }
    case 'poll': {
      const { cancelBy } = currentAttempt(order);
      const outcome = await polls.pollStatus({
        integration,
        transactionId: job.transactionId,
        known: knownDecision(order),
        pauses: order.policy?.poll ?? { firstMs: 60_000, factor: 1.5, maxMs: 900_000 },
        forbiddenKnown,
        troubleKnown: order.attention.some((one) => one.code === 'status-error'),
        ...(cancelBy !== undefined && { cancelBy }),
      });
      return { kind: job.kind, job, outcome };
    }
    case 'read': {
      const { transactionId } = job;
      const outcome = await looking.readStatusDurably({ integration, transactionId, forbiddenKnown });
      return { kind: job.kind, job, outcome };
    }
    case 'gateway': {
      const attempt = numbered(order, job.attempt);
      const { transactionId, gateway: result } = attempt;
      if (transactionId === undefined || result === undefined) throw new TypeError('nothing to send');
      const outcome = await gateway.sendGatewayResponse({
        integration,
        transactionId,
        gateway: {
          result: result.result,
          ...(result.authcode !== undefined && { authcode: result.authcode }),
          ...(result.transactionId !== undefined && { transactionId: result.transactionId }),
        },
        forbiddenKnown,
      });
      return { kind: job.kind, job, attempt: job.attempt, outcome };
    }
    case 'look-up': {
      const outcome = await looking.lookUp({
        integration,
        invoiceNumber: context.invoiceNumber(numbered(order, job.attempt)),
        knownTransactionIds: knownTransactionIds(order),
        forbiddenKnown,
      });
      return { kind: job.kind, job, attempt: job.attempt, outcome };
    }
    case 'forget-card': {
      const { cardRef } = numbered(order, job.attempt);
      try {
        if (cardRef !== undefined) await cards.forgetCard({ cardRef });
      } catch {
        // The stash forgets by itself when its time is up.
      }
      return { kind: job.kind, job, attempt: job.attempt };
    }
  }
}

/** @returns the request for a try at a decision of the newest attempt */
export function screenRequest(context: OrderContext, lookFirst: boolean): ScreenRequest {
  const { order } = context;
  const attempt = currentAttempt(order);
  const invoiceNumber = context.invoiceNumber(attempt);
  attempt.invoiceNumber = invoiceNumber;
  return {
    orderId: order.orderId,
    integration: order.integration,
    transaction: context.transaction,
    invoiceNumber,
    knownTransactionIds: knownTransactionIds(order),
    lookFirst,
    ...(order.policy !== undefined && { workflow: order.policy.workflow }),
    ...(attempt.cardRef !== undefined && { cardRef: attempt.cardRef }),
  };
}

/** @returns the ids that a look by invoice may not adopt; one whose answer couldn't be read may be, it is read again so */
export function knownTransactionIds(order: OrderState): string[] {
  return order.attempts.flatMap((attempt) =>
    attempt.transactionIds.filter((id) => id !== attempt.unreadableId),
  );
}

function numbered(order: OrderState, number: number): Attempt {
  return order.attempts.find((attempt) => attempt.number === number) ?? currentAttempt(order);
}

function knownDecision(order: OrderState): 'pass' | 'fail' | 'review' | 'fraudulent' | 'error' {
  return order.decision === 'pending' || order.decision === 'skipped' ? 'review' : order.decision;
}
