import { describe, expect, it } from 'vitest';
import type { PortalFields } from '../../../src/contract/messages.ts';
import { refusalOf } from '../../../src/order/concerns/index.ts';
import type { Order, Request } from '../../../src/order/order.ts';
import { queueAction } from '../../../src/order/portal/portal-records.ts';
import { addAttempt } from '../../../src/order/record.ts';
import { answered, HOUR, screen, sinceStart } from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

function refused(order: Order, ask: Request, at = HOUR): string | undefined {
  return refusalOf(order, ask, sinceStart(at))?.code;
}

const portal = (fields: PortalFields): Request => ({ kind: 'portal', request: { fields } });
const withdraw = (number: number): Request => ({ kind: 'withdraw', request: { number } });
const retry = (attempt: number): Request => ({ kind: 'retry', request: { attempt, transaction: {} } });

describe('an order takes', () => {
  it('two hundred portal actions, and then only what is asked already', () => {
    const { order } = screened('pass');
    const code = (number: number): PortalFields => ({ kind: 'customer-code', customerCode: `c-${number}` });
    for (let number = 1; number <= 200; number += 1) {
      if (number > 199) expect(refused(order, portal(code(number)))).toBeUndefined();
      queueAction(order.state, code(number), 'caller', sinceStart(0));
    }
    expect(refused(order, portal(code(201)))).toBe('too-many-actions');
    for (const ask of [portal(code(7)), withdraw(7)]) expect(refused(order, ask)).toBeUndefined();
  });

  it('portal actions of half a megabyte, so that it can be shown and can end', () => {
    const life = screened('pass');
    const chargeback = (number: number): PortalFields => {
      const [carrier, notes] = ['é'.repeat(4_096), '"'.repeat(4_096)];
      return { kind: 'chargeback', reason_code: `${number}`, due_date: '2026-04-01', carrier, notes };
    };
    let number = 1;
    for (; refused(life.order, portal(chargeback(number))) === undefined; number += 1)
      life.portal(chargeback(number));
    expect(number).toBeGreaterThan(10);
    expect(number).toBeLessThan(40);
    expect(refused(life.order, portal(chargeback(number)))).toBe('too-many-actions');
    expect(refused(life.order, portal(chargeback(7)))).toBeUndefined();
    expect(Buffer.byteLength(JSON.stringify(life.order))).toBeLessThan(550_000);
  });

  it('twenty attempts', () => {
    const { order } = screened('fail');
    for (let number = 2; number <= 20; number += 1) {
      expect(refused(order, retry(number), 0)).toBeUndefined();
      addAttempt(order.state, {}, sinceStart(0));
      screen(order.state, answered('fail', `t-${number}`));
    }
    expect(refused(order, retry(21), 0)).toBe('too-many-attempts');
    expect(refused(order, retry(20), 0)).toBeUndefined();
  });
});

it.each([
  ['queued', 1, undefined],
  ['running', 1, undefined],
  ['withdrawn', 1, undefined],
  ['done', 1, 'action-ended'],
  ['refused', 1, 'action-ended'],
  ['unconfirmed', 1, 'action-ended'],
  ['too-late', 1, 'action-ended'],
  ['not-sent', 1, 'action-ended'],
  ['queued', 2, 'unknown-action'],
  ['queued', 0, 'unknown-action'],
] as const)(
  'where the first action is %s, a withdraw of number %i is refused as %s',
  (status, number, code) => {
    const { order } = screened('pass');
    queueAction(order.state, { kind: 'report-fraud' }, 'caller', sinceStart(0)).status = status;
    expect(refused(order, withdraw(number))).toBe(code);
  },
);
