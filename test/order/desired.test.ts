import { describe, expect, it } from 'vitest';
import type { StatusOutcome } from '../../src/contract/activity-contract.ts';
import type { Decision } from '../../src/contract/words.ts';
import { attention, DAY, HOUR, MINUTE, NOT_SENT, sinceStart, unanswered } from '../fixtures/orders.ts';
import { aLife, HINT, type Life, screened } from './life.ts';
import { reported } from './lives.ts';

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
      expect(wanted(reported(life, 0))).toEqual(['poll']);
    }
    const passed = () => reported(screened('pass'), 0);
    expect(
      wanted(
        passed()
          .polled('review', HOUR)
          .polled('pass', 2 * HOUR),
      ),
    ).toEqual([]);
    expect(wanted(passed().until(5 * DAY))).toEqual([]);
  });

  describe('a pass to be read once more', () => {
    const lead = { recheckLeadTimeMs: DAY / 2 };
    const found = (decision: Decision) =>
      ({ kind: 'last-read', outcome: { kind: 'read', decision } }) as const;
    const last = (policy = {}, at = 4.5 * DAY) => screened('pass', { ...lead, ...policy }).until(at);

    it('from the lead time to the end of the window', () => {
      expect(wanted(last({}, 4.5 * DAY - 1))).toEqual([]);
      expect(wanted(last())).toEqual(['last-read']);
      expect(wanted(last(PRE))).toEqual(['last-read']);
      expect(wanted(last({}, 5 * DAY))).toEqual([]);
    });

    it('and acts on what it finds', () => {
      expect(last().end(found('fail'), 4.6 * DAY)).toMatchObject({
        state: { decision: 'fail', action: 'cancel', lastRead: { source: 'recheck' } },
      });
      expect(wanted(last().end(found('review'), 4.6 * DAY))).toEqual(['poll']);
    });

    it('no more once it was read for another reason, after the gateway’s decline, or after a cancel', () => {
      const read = screened('pass', lead)
        .take(HINT)
        .read('pass', 4.6 * DAY);
      expect(wanted(read)).toEqual([]);
      expect(wanted(last(PRE).gateway('fail', 4.6 * DAY))).toEqual(['gateway']);
      const canceled = last()
        .portal('cancel', 4.6 * DAY)
        .portalEnds('done', 4.6 * DAY);
      expect(wanted(canceled)).toEqual([]);
    });

    describe.each<[string, StatusOutcome]>([
      ['can’t be read', { kind: 'unreadable', words: 'It is gone.' }],
      ['is an error', { kind: 'read', decision: 'error' }],
    ])('where the answer %s', (_what, outcome) => {
      const hinted = (life: Life, at: number) => life.take(HINT).end({ kind: 'read', outcome }, at);

      it('once more, also to another read', () => {
        const life = last().end({ kind: 'last-read', outcome }, 4.6 * DAY);
        expect(attention(life.state)).toEqual(['status-error']);
        const known = (troubleKnown: boolean) => ({ request: { troubleKnown } });
        expect(life.calls('last-read')).toMatchObject([known(false), known(true)]);
        expect(attention(life.end(found('pass'), 4.7 * DAY).state)).toEqual([]);
        expect(wanted(hinted(last(), 4.6 * DAY))).toEqual(['last-read']);
      });

      it('at any time after a hint, until one has a decision', () => {
        for (const life of [last({}, DAY), last({ recheckLeadTimeMs: 0 }, DAY)]) {
          expect(wanted(hinted(life, DAY + HOUR))).toEqual(['last-read']);
          expect(wanted(life.end(found('pass'), DAY + 2 * HOUR))).toEqual([]);
        }
        const late = last().end(found('pass'), 4.6 * DAY);
        expect(wanted(late)).toEqual([]);
        expect(wanted(hinted(late, 4.7 * DAY))).toEqual(['last-read']);
        expect(late.end(found('fail'), 4.8 * DAY)).toMatchObject({
          decision: 'fail',
          state: { action: 'cancel' },
        });
      });
    });

    it('with the known problem, until the key is right', () => {
      const life = last().end({ kind: 'last-read', outcome: { kind: 'forbidden' } }, 4.6 * DAY);
      expect(attention(life.state)).toEqual(['wrong-key']);
      expect(life.find('last-read').effect.forbiddenKnown).toBe(true);
      expect(attention(life.end(found('pass'), 4.7 * DAY).state)).toEqual([]);
    });
  });

  it('a gateway’s result sent on, once there is a transaction', () => {
    const life = screened(unanswered(), { ...PRE, whenUnavailable: 'proceed' }).gateway('pass', 0);
    expect(wanted(life)).toEqual(['catch-up']);
    expect(wanted(life.caughtUp('pass', HOUR))).toEqual(['gateway']);
  });

  it('a look at what a declined attempt without an answer may have left, and nothing to follow from it', () => {
    const life = screened(unanswered(), DECLINING);
    expect(life.calls('look-up')).toMatchObject([{ request: { cancelBy: sinceStart(5 * DAY) } }]);
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
