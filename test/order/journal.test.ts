import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, sinceStart } from '../fixtures/orders.ts';
import { CANCELLATION, type Life, screened } from './life.ts';

const ADA = { key: 'ops', actor: 'ada@example.com' };
const BO = { actor: 'bo' };
const journal = ({ state }: Life) => state.journal;

describe('the journal', () => {
  it('has who did what, when and why', () => {
    const life = screened('review');
    life.ask(
      { kind: 'portal', request: { fields: { kind: 'report-fraud', reason: 'she called' }, by: ADA } },
      HOUR,
    );
    life.ask({ kind: 'withdraw', request: { number: 1, by: { key: 'shop' } } }, HOUR + 1);
    const decided = { action: 'proceed', reason: 'showed the card', by: BO } as const;
    life.ask({ kind: 'override', request: decided }, HOUR + 2);
    life.take(CANCELLATION);
    life.ask({ kind: 'acknowledge', request: { reason: 'seen', by: ADA } }, HOUR + 3);
    expect(journal(life)).toEqual([
      { at: sinceStart(HOUR), what: 'report-fraud', number: 1, by: ADA, because: 'she called' },
      { at: sinceStart(HOUR + 1), what: 'withdraw', number: 1, by: { key: 'shop' } },
      { at: sinceStart(HOUR + 2), what: 'override', action: 'proceed', by: BO, because: 'showed the card' },
      { at: sinceStart(HOUR + 3), what: 'acknowledge', by: ADA, because: 'seen' },
    ]);
    expect(JSON.stringify(life.order.fields)).not.toContain('ada');
  });

  it('has what somebody did who didn’t say who it is, and nothing that the policy did', () => {
    const life = screened('fail', { workflow: 'post-acceptance' });
    expect(life.state.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
    expect(journal(life)).toBeUndefined();
    life.portal('report-fraud');
    expect(journal(life)).toEqual([{ at: sinceStart(HOUR), what: 'report-fraud', number: 2 }]);
  });

  it('has an action that is asked again, while it is under way or done, once', () => {
    const life = screened('review').portal('report-fraud').portal('report-fraud');
    expect(journal(life.portalEnds('done').portal('report-fraud'))).toHaveLength(1);
  });

  it('has each person who joins a pending action, once, and when', () => {
    const life = screened('review');
    const cancel = (by: object, at: number) =>
      life.ask({ kind: 'portal', request: { fields: { kind: 'cancel', reason: 'a thief' }, by } }, at);
    for (const at of [1, 2, 3, 4]) cancel(at === 1 ? ADA : BO, at * MINUTE);
    expect(journal(life)).toEqual([
      { at: sinceStart(MINUTE), what: 'cancel', number: 1, by: ADA, because: 'a thief' },
      { at: sinceStart(2 * MINUTE), what: 'cancel', number: 1, joined: true, by: BO, because: 'a thief' },
    ]);
    life.portalEnds('done', HOUR);
    cancel({ actor: 'cy' }, 2 * HOUR);
    expect(journal(life)).toHaveLength(2);
  });

  it('has each person who withdraws a running action once, however often they ask', () => {
    const life = screened('review').portal('report-fraud');
    for (const by of [ADA, ADA, BO, ADA]) life.ask({ kind: 'withdraw', request: { number: 1, by } }, HOUR);
    expect(journal(life)?.slice(1)).toMatchObject([
      { what: 'withdraw', by: ADA },
      { what: 'withdraw', by: BO },
    ]);
  });

  it('has nothing of an acknowledge that resolves nothing', () => {
    const life = screened('review').acknowledge(HOUR);
    expect(life.replies).toEqual([{ cleared: 0 }]);
    expect(journal(life)).toBeUndefined();
  });

  it('keeps the last 200 entries, and the beginning of a reason that is longer than one over HTTP may be', () => {
    const life = screened('review');
    const reasons = Array.from({ length: 205 }, (_, index) => `number ${index + 1}`);
    for (const text of reasons) life.ask({ kind: 'note', request: { text } }, MINUTE);
    expect(journal(life)?.map(({ because }) => because)).toEqual(reasons.slice(5));
    life.take(CANCELLATION);
    life.ask({ kind: 'acknowledge', request: { reason: 'x'.repeat(4_000) } }, MINUTE);
    expect(journal(life)?.at(-1)?.because).toHaveLength(500);
  });
});
