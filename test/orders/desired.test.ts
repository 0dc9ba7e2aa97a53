import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, NOT_SENT, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, type Life, screened } from './life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const DECLINING = { whenUnavailable: 'decline' } as const;

const withCard = () => aLife({ cardRef: 'card-1' });

/** Returns the kinds of the activities that run. */
const wanted = (life: Life) => life.underWay.map((key) => key.split(':')[0]);

describe('an order wants', () => {
  it.each<[string, () => Life, string[]]>([
    ['nothing more after a definite refusal', () => screened({ kind: 'refused', reason: 'refused' }), []],
    ['no look when surely nothing was sent', () => screened(NOT_SENT, DECLINING), []],
    ['its card forgotten after the screening', () => screened('pass', {}, withCard()), ['forget-card']],
    ['no card forgotten before a rescreen', () => screened('error', {}, withCard()), []],
    ['no card forgotten before a catch-up', () => screened(unanswered(), {}, withCard()), ['catch-up']],
    ['to be polled in review', () => screened('review'), ['poll']],
  ])('%s', (_what, life, kinds) => {
    expect(wanted(life())).toEqual(kinds);
  });

  it('to be polled in review, also while the gateway is awaited, but not once the gateway declined', () => {
    const life = screened('review', PRE);
    expect(wanted(life)).toEqual(['poll']);
    expect(wanted(life.gateway('fail'))).toEqual(['gateway']);
  });

  it('to be polled after a fraud report until its decision changes or the window ends', () => {
    for (const life of [screened('pass'), screened('fail'), screened('pass', PRE)]) {
      expect(wanted(life.portal('report-fraud', 0).portalEnds('done', 0))).toEqual(['poll']);
    }
    const reported = () => screened('pass').portal('report-fraud', 0).portalEnds('done', 0);
    expect(
      wanted(
        reported()
          .polled('review', HOUR)
          .polled('pass', 2 * HOUR),
      ),
    ).toEqual([]);
    expect(wanted(reported().until(5 * DAY))).toEqual([]);
  });

  it('a gateway’s result sent on, once there is a transaction', () => {
    const life = screened(unanswered(), { ...PRE, whenUnavailable: 'proceed' }).gateway('pass', 0);
    expect(wanted(life)).toEqual(['catch-up']);
    expect(wanted(life.caughtUp('pass', HOUR))).toEqual(['gateway']);
  });

  it('a look at what a declined attempt without an answer may have left, and nothing to follow from it', () => {
    const life = screened(unanswered(), DECLINING);
    expect(wanted(life)).toEqual(['look-up']);
    life.lookedUp('fail', MINUTE);
    expect(life).toMatchObject({ phase: 'declined', action: 'decline', decision: 'fail', underWay: [] });
    const found = { id: 'found', attempt: 1, found: 'lookup', cancelBy: sinceStart(5 * DAY) };
    expect(life.state.transactions).toMatchObject([found]);
  });

  it('the look of an earlier attempt, but never while the next one is being screened', () => {
    const life = screened(unanswered(), DECLINING).break('look-up').retry(2, MINUTE);
    expect(wanted(life)).toEqual(['retry']);
    expect(wanted(life.retried('pass', MINUTE))).toEqual(['look-up']);
  });
});
