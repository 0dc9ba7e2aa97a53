import { ActivityCancellationDetails } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { aPortalRequest, IN_DOUBT, KINDS, UNDONE } from './portal-support.ts';
import {
  type Attempt,
  anEnvironment,
  aWorld,
  failureOf,
  KEY_KNOWN,
  plan,
  requests,
  runFactsOf,
  screened,
  theTransaction,
  withSandbox,
} from './support.ts';

withSandbox();

const BY_THE_ORDER = new ActivityCancellationDetails({ cancelRequested: true });
const BY_THE_WORKER = new ActivityCancellationDetails({ workerShutdown: true });

interface Stopped extends Attempt {
  by?: ActivityCancellationDetails;
  /** Stopped before it could send anything. */
  atOnce?: boolean;
}

describe.each(KINDS)('%s that is asked to stop', (kind, operation, done) => {
  async function stopped(changes: Parameters<typeof aPortalRequest>[1] = {}, how: Stopped = {}) {
    const { by = BY_THE_ORDER, atOnce = false, ...attempt } = how;
    const environment = anEnvironment(attempt);
    if (atOnce) environment.cancel('CANCELLED', by);
    const { performPortalAction } = aWorld().background;
    const result: ReturnType<typeof performPortalAction> = environment.run(
      performPortalAction,
      aPortalRequest(kind, changes),
      runFactsOf(attempt),
    );
    if (!atOnce) {
      await eventually(() => requests(operation) === 1);
      environment.cancel('CANCELLED', by);
    }
    return (await result).outcome;
  }

  const slowly = (fault: Parameters<typeof plan>[1]) => plan(operation, fault, { delayMs: 200 });

  it('is done when its request, which is on its way, is done', async () => {
    const transactionId = await screened(aWorld());
    slowly('delay');
    expect(await stopped({ transactionId })).toMatchObject({ kind: 'done' });
    expect(done(theTransaction())).toBe(1);
  });

  it.each(['429', '403'] as const)('was not sent when its request meets a %s', async (fault) => {
    slowly(fault);
    expect(await stopped({}, KEY_KNOWN)).toEqual({ kind: 'not-sent' });
  });

  it('is refused when the service refuses it', async () => {
    slowly('refused-in-body');
    expect(await stopped()).toMatchObject({ kind: 'refused' });
  });

  it('sends nothing more, and is not called unsent when it may have been done before', async () => {
    for (const [what, changes, attempt] of UNDONE) {
      expect(await stopped(changes, { ...attempt, atOnce: true }), what).toEqual({ kind: 'not-sent' });
    }
    expect(requests(operation)).toBe(0);
    plan(operation, '429');
    for (const [what, changes, attempt] of IN_DOUBT) {
      const before = stopped(changes, { ...attempt, atOnce: true });
      if (kind === 'chargeback') expect(await before, what).toEqual({ kind: 'unconfirmed' });
      else expect(await failureOf(before), what).toMatchObject({ type: 'rate-limited' });
    }
  });

  it('is not called unsent when its answer is lost', async () => {
    slowly('5xx-after-commit');
    const lost = stopped();
    if (kind === 'chargeback') expect(await lost).toEqual({ kind: 'unconfirmed' });
    else expect(await failureOf(lost)).toMatchObject({ type: 'http-5xx' });
  });

  it('goes on with the next try when only its worker shuts down', async () => {
    slowly('429');
    expect(await failureOf(stopped({}, { by: BY_THE_WORKER }))).toMatchObject({ type: 'rate-limited' });
  });
});
