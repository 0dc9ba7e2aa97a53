import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/orders/activity-contract.ts';
import type { Input } from '../../src/orders/order.ts';
import { canStop, keep, nothingLeft, resumed } from '../../src/orders/step.ts';
import { aLife, Life, screened } from './life.ts';
import { answered, DAY, HOUR, MINUTE, NOT_SENT, sinceStart, TRANSACTION_ID, unanswered } from './support.ts';

const RECHECK: Input = { kind: 'signal', signal: 'recheck' };

/** @returns the commands that this brings about, in short */
function commandsOf(life: Life, act: () => unknown): string[] {
  const before = life.commands.length;
  act();
  return life.commands.slice(before).map(inShort);
}

function inShort(command: Command): string {
  return command.do === 'begin' ? `begin ${command.call.kind}` : `stop${command.waits ? ' and wait' : ''}`;
}

describe('what an order has under way', () => {
  it('begins with its first screening, and nothing else', () => {
    expect(aLife().commands.map(inShort)).toEqual(['begin first-screening']);
  });

  it('stays as it is when nothing changed', () => {
    const life = screened('review');
    expect(keep(life.order)).toEqual([]);
  });

  it('a poll is stopped with the next input after the look that brings the decision; the timers follow the new phase at once', () => {
    const life = screened('review');
    const ends = { kind: 'look', outcome: { kind: 'read', decision: 'pass' } } as const;
    life.take(RECHECK);
    expect(commandsOf(life, () => life.end(ends, HOUR))).toEqual(['stop', 'begin timer']);
    expect(life.find('poll')).toBeDefined();
    expect(commandsOf(life, () => life.take(RECHECK))).toEqual(['stop', 'begin look']);
  });

  it('beside a look only what its end never stops: timers and polls begin after it', () => {
    const life = screened('pass', { recheckLeadTimeMs: HOUR, events: 'all' });
    life.end({ kind: 'deliver' }, 0);
    expect(commandsOf(life, () => life.until(5 * DAY - HOUR))).toEqual(['begin look']);
    const ends = { kind: 'look', outcome: { kind: 'read', decision: 'review' } } as const;
    const after = commandsOf(life, () => life.end(ends, 5 * DAY - HOUR + MINUTE));
    expect(after).toEqual(expect.arrayContaining(['begin poll', 'begin deliver', 'begin timer']));
    expect(after).not.toContain('stop');
  });

  it('a write is stopped and waited for, and nothing on its subject begins before', () => {
    const life = screened(unanswered());
    const cancel = () => life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    expect(commandsOf(life, cancel).filter((one) => one !== 'begin timer')).toEqual(['stop and wait']);
    expect(keep(life.order)).toEqual([]);
    expect(commandsOf(life, () => life.break('catch-up', 'cut-off'))).toContain('begin look-up');
  });

  it('a gateway’s result that replaces an error is sent once the one before it has ended', () => {
    const life = screened('pass', { workflow: 'pre-gateway' });
    life.ask({ kind: 'gateway-result', request: { result: 'error' } }, HOUR);
    life.ask({ kind: 'gateway-result', request: { result: 'pass' } }, HOUR);
    expect(life.calls('gateway')).toHaveLength(1);
    life.end({ kind: 'gateway', outcome: { kind: 'sent' } }, HOUR);
    expect(life.calls('gateway').map(({ request }) => request.gateway.result)).toEqual(['error', 'pass']);
    expect(life.order.state.attempts[0]?.gateway?.sent).toBeUndefined();
  });

  it('a batch of events is fixed when it is begun; what comes meanwhile leaves with the next', () => {
    const life = screened('review', { events: 'all' });
    life.end({ kind: 'poll', outcome: { kind: 'read', decision: 'pass' } }, HOUR);
    expect(life.calls('deliver').map((call) => call.events.length)).toEqual([1]);
    life.end({ kind: 'deliver' }, 2 * HOUR);
    expect(life.calls('deliver').map((call) => call.events.map(({ sequence }) => sequence))).toEqual([
      [1],
      [2],
    ]);
  });

  it('a timer is set for the next deadline only, at its own moment', () => {
    const life = screened('review');
    expect(life.calls('timer')).toMatchObject([{ at: sinceStart(4.5 * DAY) }]);
    life.until(4.5 * DAY);
    expect(life.calls('timer').at(-1)).toMatchObject({ at: sinceStart(30 * DAY) });
  });

  it('a screening in the background says since when a create may be under way', () => {
    const life = screened(NOT_SENT);
    expect(life.calls('catch-up')[0]?.request).not.toHaveProperty('unseenSince');
    life.end({ kind: 'catch-up', outcome: { kind: 'forbidden', unseenSince: sinceStart(1) } }, MINUTE);
    expect(life.calls('catch-up')[1]?.request).toMatchObject({ unseenSince: sinceStart(1) });
    life.end({ kind: 'catch-up', outcome: { kind: 'forbidden' } }, 2 * MINUTE);
    expect(life.calls('catch-up')[2]?.request).not.toHaveProperty('unseenSince');
  });
});

describe('continuing as new', () => {
  it('waits for the first answer, and for every write but a delivery', () => {
    expect(canStop(aLife().order)).toBe(false);
    expect(canStop(screened('pass', { events: 'all' }).order)).toBe(true);
    expect(canStop(screened('review').order)).toBe(true);
    expect(canStop(screened(unanswered()).order)).toBe(false);
    const life = screened('pass');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    expect(canStop(life.order)).toBe(false);
    expect(canStop(screened('pass').take(RECHECK).order)).toBe(false);
    const gateway = screened('pass', { workflow: 'pre-gateway' });
    gateway.ask({ kind: 'gateway-result', request: { result: 'pass' } }, 0);
    expect(canStop(gateway.order)).toBe(false);
  });

  it('waits for a write that is being stopped', () => {
    const life = screened(unanswered());
    life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, HOUR);
    expect(canStop(life.order)).toBe(false);
  });

  it('takes everything along as plain data, and begins what was under way anew', () => {
    const life = screened('review', { events: 'all' });
    const taken = JSON.parse(JSON.stringify(resumed(life.order)));
    const again = new Life(taken);
    expect(again.underWay).toEqual(life.underWay);
    expect(again.calls('poll')).toMatchObject([
      { request: { transactionId: TRANSACTION_ID, known: 'review' } },
    ]);
    expect(again.calls('deliver')).toHaveLength(1);
    expect(again.calls('timer')).toMatchObject([{ at: sinceStart(4.5 * DAY) }]);
    expect(again.order.begun).toBeGreaterThan(life.order.begun);
    expect(again.order.rules).toBe(1);
  });

  it('keeps the pause of what failed for good, and a read that goes on', () => {
    const life = screened('pass').take(RECHECK);
    life.end({ kind: 'look', outcome: { kind: 'unanswered' } }, HOUR).break('read');
    const again = new Life(resumed(structuredClone(life.order)));
    expect(again.underWay).toEqual([`pause:read:${TRANSACTION_ID}`]);
    again.end({ kind: 'pause' }, 2 * HOUR);
    expect(again.underWay).toEqual([`read:${TRANSACTION_ID}`]);
  });

  it('keeps a portal action that failed and waits to be sent again', () => {
    const life = screened('pass');
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud', reason: 'stolen' } }, HOUR);
    life.break('portal');
    expect(canStop(life.order)).toBe(true);
    const again = new Life(resumed(structuredClone(life.order))).end({ kind: 'pause' }, 2 * HOUR);
    expect(again.calls('portal')).toMatchObject([
      { request: { maybeDone: true, fields: { reason: 'stolen' } } },
    ]);
  });
});

describe('an order that is reset', () => {
  it('sends a portal action saying that it may have been done', () => {
    const life = screened('pass', {}, aLife({ wasReset: true }));
    life.ask({ kind: 'portal', fields: { kind: 'report-fraud' } }, HOUR);
    expect(life.calls('portal')[0]?.request.maybeDone).toBe(true);
    expect(life.calls('portal')[0]?.request).not.toHaveProperty('wasReset');
  });

  it('looks before it screens in the background', () => {
    const life = screened(NOT_SENT, {}, aLife({ wasReset: true }));
    expect(life.calls('catch-up')[0]?.request.unseenSince).toBe(sinceStart(0));
  });
});

describe('nothing is left', () => {
  it('when the order is closed, said so, and has told everyone', () => {
    const life = screened({ kind: 'skipped', rule: 0 });
    expect(life.order.state).toMatchObject({ phase: 'closed', endedAt: expect.any(String) });
    expect(nothingLeft(life.order)).toBe(true);
    const announced = screened({ kind: 'skipped', rule: 0 }, { events: 'all' });
    expect(announced.order.outbox.map(({ type }) => type)).toEqual(['order.decided', 'order.closed']);
    expect(nothingLeft(announced.order)).toBe(false);
    expect(nothingLeft(announced.end({ kind: 'deliver' }, MINUTE).order)).toBe(true);
  });

  it('not while a card is to be deleted', () => {
    const life = screened({ kind: 'skipped', rule: 0 }, {}, aLife({ cardRef: 'card-1' }));
    expect(nothingLeft(life.order)).toBe(false);
    expect(nothingLeft(life.end({ kind: 'forget-card' }, MINUTE).order)).toBe(true);
  });

  it('not while somebody waits for an answer', () => {
    const life = screened('fail');
    life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
    expect(nothingLeft(life.order)).toBe(false);
    life.end({ kind: 'retry-screening', outcome: answered('fail', 'second') }, MINUTE);
    expect(nothingLeft(life.until(2 * HOUR).order)).toBe(true);
  });
});
