/** A portal action that runs by itself: of an order that is closed, or of a bare transaction id. */
import {
  CancellationScope,
  setCurrentDetails,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { PortalOutcome, PortalRequest, Timed } from '../orders/activity-contract.ts';
import { wrongKeyWords } from '../orders/attention.ts';
import { ACTION_MS } from '../orders/deadlines.ts';
import { orderAttributes } from '../orders/describe.ts';
import { DEFAULT_INTEGRATION } from '../orders/ids.ts';
import type { PortalActionInput, PortalAnswer } from '../orders/messages.ts';
import { NOT_SENT, refusedBy } from '../orders/portal-records.ts';
import { portalInputRefusal } from '../orders/portal-requests.ts';
import { lastCall } from '../orders/transactions.ts';
import type { Instant } from '../orders/words.ts';
import { failure, performPortalAction, runFacts } from './activities.ts';
import { unlessRefused } from './perform.ts';

/**
 * Sends one portal action durably. A cancel ends with its window, any other action a day after it was asked.
 * @returns the service's answer once it is done
 * @throws `invalid-request`, `card-data-in-request`, `no-transaction`, `refused-by-screening-service`, `outcome-unknown`, `action-not-sent`,
 *   `cancel-window-closed`, `cancel-window-unknown`
 */
export async function portalAction(input: PortalActionInput): Promise<PortalAnswer> {
  const request = requestOf(input);
  const { outcome, at } = await withinADay(input, request);
  return answerOf(input, outcome, at);
}

/** Before it is known whether the key is right. */
type FirstRequest = Omit<PortalRequest, 'forbiddenKnown'>;

function requestOf(input: PortalActionInput): FirstRequest {
  const refused = portalInputRefusal(input);
  if (refused !== undefined) {
    throw failure(refused.code, refused.message, { errors: refused.errors ?? [] });
  }
  const { fields, transactionId, cancelBy, cancelWindowMs, integration = DEFAULT_INTEGRATION } = input;
  if (fields.kind !== 'customer-code' && transactionId === undefined) {
    throw failure('no-transaction', 'Name the transaction.');
  }
  const cancel = fields.kind === 'cancel';
  if (cancel && (cancelBy === undefined || cancelWindowMs === undefined)) {
    throw failure(
      'cancel-window-unknown',
      'The cancel window of a bare transaction is not known: cancel it in the portal.',
    );
  }
  return {
    integration,
    fields,
    ...(transactionId !== undefined && { transactionId }),
    ...(cancel &&
      cancelBy !== undefined &&
      cancelWindowMs !== undefined && { notAfter: lastCall(cancelBy, cancelWindowMs) }),
  };
}

type Ended = Pick<Timed<Exclude<PortalOutcome, { kind: 'forbidden' }>>, 'outcome'> & { at?: Instant };

/** What is under way when its time is up, or when somebody has the workflow canceled, is stopped and waited for: it may be done. */
async function withinADay({ fields }: PortalActionInput, request: FirstRequest): Promise<Ended> {
  const scope = new CancellationScope();
  const timer = new CancellationScope();
  if (fields.kind !== 'cancel') {
    timer
      .run(() => sleep(ACTION_MS, { summary: 'The portal action is given up' }))
      .then(
        () => scope.cancel(),
        () => undefined,
      );
  }
  try {
    return await scope.run(() => untilAllowed(request));
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return { outcome: { kind: 'unconfirmed' } };
  } finally {
    timer.cancel();
  }
}

/** A wrong key is an operator's mistake: it is shown, and the call goes on until the key is right. */
async function untilAllowed(request: FirstRequest): Promise<Ended> {
  let maybeDone = false;
  for (let forbiddenKnown = false; ; forbiddenKnown = true) {
    const { outcome, at }: Timed<PortalOutcome> = unlessRefused(
      await performPortalAction({ ...request, maybeDone, forbiddenKnown }, runFacts()),
    );
    if (outcome.kind !== 'forbidden') return { outcome, at };
    maybeDone ||= outcome.maybeDone === true;
    upsertSearchAttributes([{ key: orderAttributes.needsAttention, value: true }]);
    setCurrentDetails(wrongKeyWords({ operation: request.fields.kind }));
  }
}

function answerOf(
  input: PortalActionInput,
  outcome: Ended['outcome'],
  at: Instant | undefined,
): PortalAnswer {
  const { fields, transactionId, orderId, integration = DEFAULT_INTEGRATION } = input;
  if (outcome.kind !== 'done') throw failureOf(input, outcome);
  return {
    integration,
    kind: fields.kind,
    status: 'done',
    ...(at !== undefined && { at }),
    ...(orderId !== undefined && { orderId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(outcome.code !== undefined && { code: outcome.code }),
    ...(outcome.message !== undefined && { message: outcome.message }),
    ...(outcome.chargeback !== undefined && { chargeback: outcome.chargeback }),
  };
}

function failureOf(
  { cancelBy }: PortalActionInput,
  outcome: Exclude<Ended['outcome'], { kind: 'done' }>,
): Error {
  switch (outcome.kind) {
    case 'refused':
      return failure(
        'refused-by-screening-service',
        `${refusedBy(outcome.code)}: ${outcome.message ?? 'no words'}`,
        outcome.code === undefined
          ? {}
          : {
              serviceCode: outcome.code,
              ...(outcome.message !== undefined && { serviceMessage: outcome.message }),
            },
      );
    case 'unconfirmed':
      return failure(
        'outcome-unknown',
        'Nobody knows whether it was done: look in the portal before you send it again.',
      );
    case 'not-sent':
      return failure('action-not-sent', NOT_SENT);
    case 'too-late':
      return failure(
        'cancel-window-closed',
        'The cancel window closed.',
        cancelBy === undefined ? {} : { cancelBy },
      );
  }
}
