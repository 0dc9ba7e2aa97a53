import { describe, expect, it } from 'vitest';
import { EarlyAnswers } from '../../../src/starter.ts';
import { answered, unanswered } from '../../fixtures/orders.ts';
import { aTransaction } from '../../fixtures/transactions.ts';
import { aCheckoutAnswer } from '../../server/api/fake-order-screening.ts';
import { aClient, alreadyStarted, tellEarly } from '../fake-temporal.ts';

const order = { workflowId: 'order:default:1001', runId: 'run-1' };

/** A client in the same process as a worker. @param work what the worker does when the order is started */
function aClientBesideItsWorker(work: (early: EarlyAnswers) => void, eagerlyStarted = true) {
  const earlyAnswers = new EarlyAnswers();
  const { orderScreening, temporal } = aClient({}, undefined, earlyAnswers);
  temporal.start.mockImplementation(async () => {
    work(earlyAnswers);
    return { eagerlyStarted, firstExecutionRunId: order.runId };
  });
  const recorded = aCheckoutAnswer({ decision: 'review', action: 'hold' });
  temporal.executeUpdateWithStart.mockResolvedValue(recorded);
  const screen = () => orderScreening.screen({ orderId: '1001', transaction: aTransaction() });
  return { screen, temporal };
}

function fail(error: Error): never {
  throw error;
}

describe('the fast path', () => {
  it('answers as soon as the worker beside it tells, with no further call', async () => {
    const { screen, temporal } = aClientBesideItsWorker((early) => tellEarly(early, answered('pass'), order));
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
    const later = (early: EarlyAnswers) => setImmediate(() => tellEarly(early, answered('pass'), order));
    expect(await aClientBesideItsWorker(later).screen()).toMatchObject({ decision: 'pass' });
  });

  it('takes no word for another run or another order', async () => {
    const { screen } = aClientBesideItsWorker((early) => {
      tellEarly(early, answered('fraudulent'), { ...order, runId: 'an-earlier-run' });
      tellEarly(early, answered('fraudulent'), { ...order, workflowId: 'order:default:1002' });
      tellEarly(early, answered('pass'), order);
    });
    expect(await screen()).toMatchObject({ decision: 'pass' });
  });

  it.each<[string, (early: EarlyAnswers) => void, eagerlyStarted?: boolean]>([
    ['the service gave no answer', (early) => tellEarly(early, unanswered(), order)],
    ['the screening failed', (early) => tellEarly(early, undefined, order)],
    ['the first task went elsewhere', () => undefined, false],
    ['the order is there already', () => fail(alreadyStarted)],
    ['its start had no answer', () => fail(new Error('whatever'))],
  ])('asks for the record when %s', async (_why, work, eagerlyStarted) => {
    const { screen, temporal } = aClientBesideItsWorker(work, eagerlyStarted);
    expect(await screen()).toMatchObject({ decision: 'review' });
    expect(temporal.executeUpdateWithStart).toHaveBeenCalledOnce();
  });
});
