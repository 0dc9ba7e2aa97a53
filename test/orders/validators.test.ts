import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../src/contract/messages.ts';
import { refusalOf } from '../../src/orders/concerns/index.ts';
import type { Order, Request } from '../../src/orders/order.ts';
import { queueAction } from '../../src/orders/portal-records.ts';
import { addAttempt } from '../../src/orders/record.ts';
import { answered, HOUR, screen, sinceStart } from '../fixtures/orders.ts';
import { screened } from './life.ts';

function refused(order: Order, ask: Request, at = HOUR): string | undefined {
  return refusalOf(order, ask, sinceStart(at))?.code;
}

function portal(fields: PortalFields): Request {
  return { kind: 'portal', fields };
}

describe('a validator', () => {
  it('changes nothing, whatever it is asked', () => {
    const { order } = screened('review');
    const before = structuredClone(order);
    refused(order, portal({ kind: 'cancel' }));
    refused(order, { kind: 'withdraw', request: { number: 1 } });
    refused(order, { kind: 'retry', request: { attempt: 2, transaction: {} } });
    expect(order).toEqual(before);
  });
});

describe('an order takes', () => {
  it('two hundred portal actions, and then only what is asked already', () => {
    const { order } = screened('pass');
    const code = (number: number): PortalFields => ({ kind: 'customer-code', customerCode: `c-${number}` });
    for (let number = 1; number <= 199; number += 1)
      queueAction(order.state, code(number), 'caller', sinceStart(0));
    expect(refused(order, portal(code(200)))).toBeUndefined();
    queueAction(order.state, code(200), 'caller', sinceStart(0));
    expect(refused(order, portal(code(201)))).toBe('too-many-actions');
    expect(refused(order, portal(code(7)))).toBeUndefined();
    expect(refused(order, { kind: 'withdraw', request: { number: 7 } })).toBeUndefined();
  });

  it('portal actions of half a megabyte, so that it can be shown and can end', () => {
    const life = screened('pass');
    const chargeback = (number: number): PortalFields => {
      const [carrier, notes] = ['é'.repeat(4_096), '"'.repeat(4_096)];
      return { kind: 'chargeback', reason_code: `${number}`, due_date: '2026-04-01', carrier, notes };
    };
    let number = 1;
    while (refused(life.order, portal(chargeback(number))) === undefined) {
      life.ask(portal(chargeback(number)), HOUR);
      number += 1;
    }
    expect(number).toBeGreaterThan(10);
    expect(number).toBeLessThan(40);
    expect(refused(life.order, portal(chargeback(number)))).toBe('too-many-actions');
    expect(refused(life.order, portal(chargeback(7)))).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(life.order))).toBeLessThan(550_000);
  });

  it('twenty attempts', () => {
    const { order } = screened('fail');
    const retry = (attempt: number): Request => ({ kind: 'retry', request: { attempt, transaction: {} } });
    for (let number = 2; number <= 20; number += 1) {
      expect(refused(order, retry(number), 0)).toBeUndefined();
      addAttempt(order.state, {}, sinceStart(0));
      screen(order.state, answered('fail', `t-${number}`));
    }
    expect(refused(order, retry(21), 0)).toBe('too-many-attempts');
    expect(refused(order, retry(20), 0)).toBeUndefined();
  });
});

describe('a withdraw', () => {
  it.each([
    ['queued', undefined],
    ['running', undefined],
    ['withdrawn', undefined],
    ['done', 'action-ended'],
    ['refused', 'action-ended'],
    ['unconfirmed', 'action-ended'],
    ['too-late', 'action-ended'],
    ['not-sent', 'action-ended'],
  ] as const)('of an action that is %s: %s', (status, code) => {
    const { order } = screened('pass');
    queueAction(order.state, { kind: 'report-fraud' }, 'caller', sinceStart(0)).status = status;
    expect(refused(order, { kind: 'withdraw', request: { number: 1 } })).toBe(code);
  });

  it.each([
    ['{"number":2}', 'unknown-action'],
    ['{"number":0}', 'unknown-action'],
  ])('with %s is refused: %s', (json, code) => {
    const { order } = screened('pass');
    queueAction(order.state, { kind: 'report-fraud' }, 'caller', sinceStart(0));
    expect(refused(order, { kind: 'withdraw', request: JSON.parse(json) })).toBe(code);
  });
});
