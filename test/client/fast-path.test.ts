import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { CheckedOut, CheckoutRequest, ScreeningOutcome } from '../../src/contract/activity-contract.ts';
import { EarlyAnswers } from '../../src/starter.ts';
import { aCheckoutAnswer } from '../api/fake-order-screening.ts';
import { answered, aPolicy, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { aClient } from './fake-temporal.ts';

const RUN = 'run-1';
const order = { workflowId: 'order:default:1001', runId: RUN };
const screening: CheckoutRequest = {
  orderId: '1001',
  integration: 'default',
  transaction: {},
  invoiceNumber: '1001',
  knownTransactionIds: [],
  startedAt: sinceStart(0),
  begun: sinceStart(0),
};
const first = (outcome: ScreeningOutcome): CheckedOut => ({
  policy: aPolicy(),
  outcome,
  began: sinceStart(0),
  at: sinceStart(0),
});

/** A client in the same process as a worker that tells what its screening of the order brought. */
function aClientBesideItsWorker(tell: (early: EarlyAnswers) => void, eagerlyStarted = true) {
  const earlyAnswers = new EarlyAnswers();
  const { orderScreening, temporal } = aClient({}, undefined, earlyAnswers);
  temporal.start.mockImplementation(async () => {
    tell(earlyAnswers);
    return { eagerlyStarted, firstExecutionRunId: RUN };
  });
  temporal.executeUpdateWithStart.mockResolvedValue(
    aCheckoutAnswer({ decision: 'review', action: 'hold', fingerprint: undefined as never }),
  );
  const screen = () => orderScreening.screen({ orderId: '1001', transaction: aTransaction() });
  return { screen, temporal };
}

describe('the fast path', () => {
  it('answers as soon as the worker beside it tells, with no further call', async () => {
    const { screen, temporal } = aClientBesideItsWorker((early) =>
      early.tell(order, screening, first(answered('pass'))),
    );
    expect(await screen()).toMatchObject({ decision: 'pass', action: 'proceed', attempt: 1 });
    expect(temporal.executeUpdateWithStart).not.toHaveBeenCalled();
    expect(temporal.start.mock.calls[0]).toMatchObject([
      'screenOrder',
      {
        requestEagerStart: true,
        workflowId: order.workflowId,
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
      },
    ]);
  });

  it('answers also what is told after the start was known', async () => {
    const { screen } = aClientBesideItsWorker((early) =>
      setImmediate(() => early.tell(order, screening, first(answered('pass')))),
    );
    expect(await screen()).toMatchObject({ decision: 'pass' });
  });

  it.each<[string, (early: EarlyAnswers) => void]>([
    ['the service gave no answer', (early) => early.tell(order, screening, first(unanswered()))],
    ['the screening failed', (early) => early.tell(order, screening, undefined)],
  ])('asks for the record when %s', async (_why, tell) => {
    const { screen, temporal } = aClientBesideItsWorker(tell);
    expect(await screen()).toMatchObject({ decision: 'review' });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledOnce();
  });

  it('takes no word for another run or another order', async () => {
    const { screen } = aClientBesideItsWorker((early) => {
      early.tell({ ...order, runId: 'an-earlier-run' }, screening, first(answered('fraudulent')));
      early.tell({ ...order, workflowId: 'order:default:1002' }, screening, first(answered('fraudulent')));
      early.tell(order, screening, first(answered('pass')));
    });
    expect(await screen()).toMatchObject({ decision: 'pass' });
  });

  it('asks for the record when the first task went elsewhere', async () => {
    const { screen, temporal } = aClientBesideItsWorker(() => undefined, false);
    expect(await screen()).toMatchObject({ decision: 'review' });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledOnce();
  });

  it('asks for the record when the order is there already, or its start had no answer', async () => {
    for (const error of [
      new WorkflowExecutionAlreadyStartedError('there', order.workflowId, 'screenOrder'),
      new Error('whatever'),
    ]) {
      const { screen, temporal } = aClientBesideItsWorker(() => undefined);
      temporal.start.mockRejectedValue(error);
      expect(await screen()).toMatchObject({ decision: 'review' });
      expect(temporal.executeUpdateWithStart).toHaveBeenCalledOnce();
    }
  });
});
