import { describe, expect, it } from 'vitest';
import { messageRefusal } from '../../src/orders/check-messages.ts';
import { MESSAGES } from '../../src/orders/message-shapes.ts';
import { withoutNulls } from '../../src/orders/read-message.ts';
import { HOUR, MINUTE, sinceStart } from '../fixtures/orders.ts';
import { type Life, screened } from './life.ts';

const ADA = { key: 'ops', actor: 'ada@example.com' };
const journal = ({ order }: Life) => order.state.journal;

describe('the journal', () => {
  it('has who did what, when and why', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud', reason: 'she called' }, by: ADA }, HOUR);
    life.ask({ kind: 'withdraw', request: { number: 1, by: { key: 'shop' } } }, HOUR + 1);
    life.ask(
      {
        kind: 'override',
        request: { action: 'proceed', reason: 'showed the card', by: { actor: 'bo' } },
      },
      HOUR + 2,
    );
    life.ask({ kind: 'acknowledge', request: { reason: 'seen', by: ADA } }, HOUR + 3);
    expect(journal(life)).toEqual([
      { at: sinceStart(HOUR), what: 'report-fraud', number: 1, by: ADA, because: 'she called' },
      { at: sinceStart(HOUR + 1), what: 'withdraw', number: 1, by: { key: 'shop' } },
      {
        at: sinceStart(HOUR + 2),
        what: 'override',
        action: 'proceed',
        by: { actor: 'bo' },
        because: 'showed the card',
      },
      { at: sinceStart(HOUR + 3), what: 'acknowledge', by: ADA, because: 'seen' },
    ]);
  });

  it('has what somebody did who didn’t say who it is, and nothing that the policy did', () => {
    const life = screened('fail', { autoCancel: true, workflow: 'post-acceptance' });
    expect(life.order.state.actions).toMatchObject([{ kind: 'cancel', by: 'policy' }]);
    expect(journal(life)).toBeUndefined();
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    expect(journal(life)).toEqual([{ at: sinceStart(HOUR), what: 'report-fraud', number: 2 }]);
  });

  it('has an action that is asked again, while it is under way or done, once', () => {
    const life = screened('review');
    const fields = { kind: 'report-fraud' } as const;
    life.ask({ kind: 'portal', fields, by: ADA }, HOUR);
    life.ask({ kind: 'portal', fields, by: { actor: 'bo' } }, HOUR + 1);
    expect(journal(life)).toHaveLength(1);
  });

  it('says nothing of who asks to the service', () => {
    const life = screened('review');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' }, by: ADA }, HOUR);
    expect(JSON.stringify(life.order.fields)).not.toContain('ada');
  });

  it('keeps the last 200 entries', () => {
    const life = screened('review');
    for (let count = 1; count <= 205; count += 1) {
      life.ask({ kind: 'acknowledge', request: { reason: `number ${count}` } }, MINUTE + count);
    }
    expect(journal(life)).toHaveLength(200);
    expect(journal(life)?.[0]?.because).toBe('number 6');
    expect(journal(life)?.at(-1)?.because).toBe('number 205');
  });

  it('keeps the beginning of a reason that is longer than one over HTTP may be', () => {
    const life = screened('review');
    life.ask({ kind: 'acknowledge', request: { reason: 'x'.repeat(4_000) } }, MINUTE);
    expect(journal(life)?.[0]?.because).toHaveLength(500);
  });
});

describe('who asks', () => {
  const refusalsOf = (by: unknown) => [
    messageRefusal(withoutNulls({ by }), MESSAGES.cancel),
    messageRefusal(withoutNulls({ action: 'proceed', reason: 'x', by }), MESSAGES.override),
    messageRefusal(withoutNulls({ reason: 'x', by }), MESSAGES.acknowledge),
  ];

  it.each([
    ['a line break', { actor: 'ada\nbo' }],
    ['nothing', { actor: '' }],
    ['too much', { actor: 'x'.repeat(101) }],
    ['a number', { key: 7 }],
    ['half a character', { key: 'x\ud800' }],
  ])('is refused where it is %s, in every message that has it', (_what, by) => {
    for (const refused of refusalsOf(by)) {
      expect(refused).toMatchObject({ code: 'invalid-request', errors: [{ path: 'by' }] });
      expect(JSON.stringify(refused)).not.toContain('ada');
    }
  });

  it('may be left out, and may be null, as some languages have it', () => {
    for (const by of [null, {}, { key: null, actor: null }, { actor: 'Zoë' }])
      expect(refusalsOf(by)).toEqual([undefined, undefined, undefined]);
  });
});
