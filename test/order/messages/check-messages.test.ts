import { describe, expect, it } from 'vitest';
import type { PortalFields, TransactionJson } from '../../../src/contract/messages.ts';
import type { IntegrationWorkflow, Phase } from '../../../src/contract/words.ts';
import { readAfterEndInput } from '../../../src/order/after-end.ts';
import { refusalOf } from '../../../src/order/concerns/index.ts';
import {
  decisionRefusal,
  messageRefusal,
  retryRefusal,
  shapeRefusal,
  startRefusal,
  withoutNulls,
} from '../../../src/order/messages/check-messages.ts';
import { MESSAGES, PORTAL_ACTION_INPUT, READ_AFTER_END_INPUT } from '../../../src/order/messages/shapes.ts';
import type { Order, Request } from '../../../src/order/order.ts';
import { queueAction } from '../../../src/order/portal/portal-records.ts';
import { addAttempt, setPhase } from '../../../src/order/record.ts';
import { aClosedOrder, anOrder, answered, aPolicy, HOUR, screen, sinceStart } from '../../fixtures/orders.ts';
import { screened } from '../life.ts';

/** A value that nobody has checked. */
function raw(value: unknown) {
  return JSON.parse(JSON.stringify(value ?? null));
}

const CHARGEBACK = { reason_code: '1', due_date: '2026-04-01' };
const START = { orderId: 'o-1', transaction: {} };
const AFTER_END = { ...readAfterEndInput(aClosedOrder(), []), spacingMs: 2_000 };
const ended = (more: object) => ({ ...AFTER_END, order: { ...AFTER_END.order, ...more } });

/** Returns the paths of the errors, or undefined: the start is accepted. */
function startErrors(input: unknown, isResumed = false): string[] | undefined {
  return startRefusal(raw(input), 'order:default:o-1', isResumed)?.errors?.map(({ path }) => path);
}

describe('a start', () => {
  it.each([
    [START, undefined],
    [null, ['']],
    [{ transaction: {} }, ['orderId']],
    [{ ...START, orderId: '#1' }, ['orderId']],
    [{ ...START, orderId: 'x'.repeat(65) }, ['orderId']],
    [{ ...START, workflow: 'later', answerBy: 'soon', cardRef: 5 }, ['workflow', 'cardRef', 'answerBy']],
    [{ ...START, integration: '', transaction: [] }, ['integration', 'transaction']],
    [{ ...START, version: '1' }, ['version']],
    [{ ...START, fingerprint: {} }, ['fingerprint']],
    [{ ...START, integration: 'eu' }, ['workflowId']],
    [{ ...START, resume: {} }, ['resume']],
    [{ ...START, adopt: { transactionId: 't' } }, ['adopt']],
  ])('as %j has all its errors at once: %j', (input, paths) => {
    expect(startErrors(input)).toEqual(paths);
  });

  it.each([
    ['2026-03-02T10:00:00.000Z', true],
    ['2026-03-02T12:00:00.5+02:00', true],
    ['2026-03-02T10:00:00', false],
    ['2026-03-02', false],
    ['2026-13-02T10:00:00Z', false],
  ])('with the moment %s, which means the same everywhere: %s', (at, taken) => {
    const adopt = { transactionId: 't', screenedAt: at };
    expect(startErrors({ ...START, answerBy: at, adopt })).toEqual(taken ? undefined : ['answerBy', 'adopt']);
  });

  it('that an earlier run of the order made may carry its state', () => {
    expect(startErrors({ ...START, resume: { state: {} } }, true)).toBeUndefined();
  });

  it('that nests without end is refused, not looked into until the stack is used up', () => {
    let deep: object = { cardNumber: '4' };
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    const input = { orderId: '1', transaction: { userFields: deep } };
    const errors = [{ path: 'transaction', message: 'must be nested at most 20 levels deep' }];
    expect(startRefusal(input, 'order:default:1')).toMatchObject({ errors });
  });
});

describe('a transaction of more than 256 KiB', () => {
  it('is refused, in a start and in a retry', () => {
    const fits = { notes: 'é'.repeat((256 * 1024 - '{"notes":""}'.length) / 2) };
    const large = { notes: `${fits.notes}.` };
    const refused = { errors: [{ path: 'transaction', message: 'must have at most 262144 bytes as JSON' }] };
    const start = (transaction: TransactionJson) =>
      startRefusal({ ...START, transaction }, 'order:default:o-1');
    const retry = (transaction: TransactionJson) =>
      retryRefusal(anOrder('fail'), { attempt: 2, transaction });
    for (const refusal of [start, retry]) {
      expect(refusal(fits)).toBeUndefined();
      expect(refusal(large)).toMatchObject(refused);
    }
  });
});

describe('a decision asked for', () => {
  it('is refused for an unknown attempt or another content', () => {
    const order = anOrder('pass');
    if (order.attempts[0]) order.attempts[0].fingerprint = 'f-1';
    expect(decisionRefusal(order, { attempt: 1 })).toBeUndefined();
    expect(decisionRefusal(order, { attempt: 1, fingerprint: 'f-1' })).toBeUndefined();
    expect(decisionRefusal(order, { attempt: 1, fingerprint: 'f-2' })?.code).toBe('attempt-mismatch');
    expect(decisionRefusal(order, { attempt: 2 })?.code).toBe('unknown-attempt');
  });
});

it.each([
  ['pass', 'read the order'],
  ['review', 'read the order'],
  ['fail', 'send the next attempt'],
] as const)('other content for the attempt of an order that is %s is told: %s', (decision, advice) => {
  const order = anOrder(decision);
  if (order.attempts[0]) order.attempts[0].fingerprint = 'f-1';
  const message = decisionRefusal(order, { attempt: 1, fingerprint: 'f-2' })?.message;
  expect(message).toContain(`send it again with its first content, or ${advice}`);
  addAttempt(order, { fingerprint: 'f-3' }, sinceStart(0));
  expect(decisionRefusal(order, { attempt: 1, fingerprint: 'f-2' })?.message).toContain('read the order');
});

describe('a retry', () => {
  const retry = { attempt: 2, transaction: {} };
  const code = (order = anOrder('fail'), request: unknown = retry) => retryRefusal(order, raw(request))?.code;

  it('that came before is the same with the same content, and refused with another', () => {
    const order = anOrder('fail');
    addAttempt(order, { fingerprint: 'f-2' }, sinceStart(0));
    expect(code(order, { ...retry, fingerprint: 'f-2' })).toBeUndefined();
    expect(code(order, { ...retry, fingerprint: 'another' })).toBe('attempt-mismatch');
  });

  it('is refused in every other phase, out of turn, while a cancel is asked, and after the end', () => {
    const phases: Phase[] = ['screening', 'awaiting-gateway', 'review', 'decided', 'canceled', 'closed'];
    const codes = phases.map((phase) => {
      const order = anOrder('pass');
      setPhase(order, phase, sinceStart(0));
      if (phase === 'closed') order.endedAt = sinceStart(0);
      return code(order);
    });
    expect(codes).toEqual([...Array(4).fill('retry-out-of-turn'), 'order-closed', 'order-closed']);
    expect(code(anOrder('fail'), { ...retry, attempt: 3 })).toBe('retry-out-of-turn');
    const canceling = anOrder('fail');
    queueAction(canceling, { kind: 'cancel' }, 'caller', sinceStart(0));
    expect(code(canceling)).toBe('retry-out-of-turn');
  });

  it('is refused if it was checked by the rules of a different workflow than the order’s', () => {
    const before = { ...retry, workflow: 'pre-acceptance' } as const;
    const after = { ...retry, workflow: 'pre-gateway' } as const;
    const errors = [{ path: 'workflow', message: expect.stringMatching(/^must be pre-gateway/) }];
    const failed = (workflow: IntegrationWorkflow) => anOrder('fail', { workflow });
    expect(retryRefusal(failed('pre-gateway'), before)).toMatchObject({ errors });
    for (const request of [after, retry]) expect(code(failed('pre-gateway'), request)).toBeUndefined();
    const later = { ...failed('pre-gateway'), policy: aPolicy({ workflow: 'post-acceptance' }) };
    expect(code(later, before)).toBeUndefined();
  });
});

describe('a message', () => {
  const OVERRIDE = { action: 'cancel', reason: 'seen' };
  it.each<[keyof typeof MESSAGES, unknown, string[] | undefined]>([
    ['cancel', {}, undefined],
    ['cancel', null, ['']],
    ['cancel', { reason: 5 }, ['reason']],
    ['cancel', { by: { actor: 'ada\nbo' } }, ['by']],
    ['cancel', { by: { actor: '' } }, ['by']],
    ['cancel', { by: { actor: 'x'.repeat(101) } }, ['by']],
    ['cancel', { by: { key: 7 } }, ['by']],
    ['cancel', { by: { key: 'x\ud800' } }, ['by']],
    ['cancel', { by: null }, undefined],
    ['cancel', { by: { key: null, actor: null } }, undefined],
    ['cancel', { by: { actor: 'Zoë' } }, undefined],
    ['override', { ...OVERRIDE, by: { key: 7 } }, ['by']],
    ['acknowledge', { reason: 'seen', by: { key: 7 } }, ['by']],
    ['customer-code', {}, ['customerCode']],
    ['chargeback', { force: 'yes' }, ['reason_code', 'due_date', 'force']],
    ['chargeback', { ...CHARGEBACK, notes: 'x'.repeat(4097) }, ['notes']],
    ['chargeback', { ...CHARGEBACK, notes: '', carrier: '' }, undefined],
    ['chargeback', { ...CHARGEBACK, notice_date: '' }, ['notice_date']],
    ['acknowledge', { reason: 'seen' }, undefined],
    ['acknowledge', { reason: ' \n' }, ['reason']],
    ['override', { action: 'decline', reason: '' }, ['action', 'reason']],
    ['override', { ...OVERRIDE, reason: 'x'.repeat(501) }, ['reason']],
    ['withdraw', { number: '1' }, ['number']],
    ['retry', { attempt: 'two', transaction: {}, cardRef: 5 }, ['attempt', 'cardRef']],
    ['retry', { attempt: 2, transaction: {}, workflow: 'later' }, ['workflow']],
    ['decision', {}, ['attempt']],
    ['adopt', { transactionId: '' }, ['transactionId']],
    ['gateway-result', { result: 'maybe', authcode: {} }, ['result', 'authcode']],
    ['gateway-result', { result: 'pass', authcode: 1, transactionId: [] }, ['authcode', 'transactionId']],
    ['gateway-result', { result: 'pass', authcode: '9'.repeat(4097) }, ['authcode']],
    ['gateway-result', { result: 'pass', authcode: '', transactionId: 't-1' }, undefined],
  ])('%s with %j', (kind, message, paths) => {
    const refused = messageRefusal(withoutNulls(message), MESSAGES[kind]);
    expect(refused?.errors?.map(({ path }) => path)).toEqual(paths);
    expect(JSON.stringify(refused ?? {})).not.toContain('ada');
  });

  it('that starts a portal action by itself is checked with what goes with it', () => {
    const cancel = { integration: 'default', transactionId: 't', fields: { kind: 'cancel' } };
    const paths = (input: unknown) =>
      messageRefusal(input, PORTAL_ACTION_INPUT)?.errors?.map(({ path }) => path);
    expect(paths(cancel)).toBeUndefined();
    expect(paths(null)).toEqual(['']);
    const bad = { integration: 1, fields: { kind: 'refund' }, cancelBy: 'x', cancelWindowMs: 'y' };
    expect(paths({ ...cancel, ...bad })).toEqual(['integration', 'cancelBy', 'cancelWindowMs', 'fields']);
  });

  it.each([
    null,
    ended({ orderId: undefined }),
    ended({ attempts: [null] }),
    ended({ transactions: [{}] }),
    ended({ transactions: [null] }),
    ended({ events: { sequence: '7' } }),
    { ...AFTER_END, decisions: [{ transactionId: 7 }] },
    { ...AFTER_END, spacingMs: Number.NaN },
  ])('that starts reads after the end is refused: %#', (input) => {
    expect(shapeRefusal(AFTER_END, READ_AFTER_END_INPUT)).toBeUndefined();
    expect(shapeRefusal(input, READ_AFTER_END_INPUT)).toMatchObject({ code: 'invalid-request' });
  });
});

function refused(order: Order, ask: Request, at = HOUR): string | undefined {
  return refusalOf(order, ask, sinceStart(at))?.code;
}

const portal = (fields: PortalFields): Request => ({ kind: 'portal', request: { fields } });
const withdraw = (number: number): Request => ({ kind: 'withdraw', request: { number } });
const retryOf = (attempt: number): Request => ({ kind: 'retry', request: { attempt, transaction: {} } });

describe('an order takes', () => {
  it('two hundred portal actions, and then only cancels and what is asked already', () => {
    const { order } = screened('pass');
    const code = (number: number): PortalFields => ({ kind: 'customer-code', customerCode: `c-${number}` });
    for (let number = 1; number <= 200; number += 1) {
      if (number > 199) expect(refused(order, portal(code(number)))).toBeUndefined();
      queueAction(order.state, code(number), 'caller', sinceStart(0));
    }
    expect(refused(order, portal(code(201)))).toBe('too-many-actions');
    for (const ask of [portal(code(7)), withdraw(7), portal({ kind: 'cancel' })])
      expect(refused(order, ask)).toBeUndefined();
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
      expect(refused(order, retryOf(number), 0)).toBeUndefined();
      addAttempt(order.state, {}, sinceStart(0));
      screen(order.state, answered('fail', `t-${number}`));
    }
    expect(refused(order, retryOf(21), 0)).toBe('too-many-attempts');
    expect(refused(order, retryOf(20), 0)).toBeUndefined();
  });
});

it.each([
  ['queued', 1, undefined],
  ['running', 1, undefined],
  ['withdrawn', 1, undefined],
  ['done', 1, 'action-ended'],
  ['unconfirmed', 1, 'action-ended'],
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
