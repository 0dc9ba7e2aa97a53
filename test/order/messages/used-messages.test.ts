/** Messages that arrive twice: with one idempotency key, or stored and sent again by somebody who can write to Temporal. */
import { describe, expect, it } from 'vitest';
import type { OverrideAction } from '../../../src/contract/words.ts';
import { inputRefusal } from '../../../src/order/messages/used-messages.ts';
import type { Request, RequestInput, Sent } from '../../../src/order/order.ts';
import { HOUR, PORTAL_ACTIONS, sinceStart } from '../../fixtures/orders.ts';
import { type Life, screened } from '../life.ts';

const REUSED = 'idempotency-key-reused';
let updates = 0;

/** A key of a request, as every repeat of it has. */
const keyed = (name: string, fingerprint = 'f') => ({ key: { name, fingerprint } });
const override = (action: OverrideAction): Request => ({
  kind: 'override',
  request: { action, reason: 'x' },
});
const cancel: Request = { kind: 'portal', request: { fields: PORTAL_ACTIONS.cancel } };
const report: Request = { kind: 'portal', request: { fields: PORTAL_ACTIONS['report-fraud'] } };

function inputOf(request: Request, sent: Partial<Sent> = {}, at = HOUR): RequestInput {
  updates += 1;
  return { kind: 'request', request, at: sinceStart(at), sent: { updateId: `update-${updates}`, ...sent } };
}

/** Sends a request as the workflow does. @returns the input, or the code of its refusal */
function send(life: Life, ...given: Parameters<typeof inputOf>) {
  const input = inputOf(...given);
  const refused = inputRefusal(life.order, input);
  if (refused !== undefined) return refused.code;
  life.take(input);
  return input;
}

describe('the same idempotency key', () => {
  it('of the same caller and request does nothing again, though the order has changed', () => {
    const life = screened('review');
    expect(send(life, override('proceed'), keyed('a'))).not.toHaveProperty('repeated');
    send(life, override('cancel'), keyed('b'));
    expect(send(life, override('proceed'), keyed('a'), 2 * HOUR)).toMatchObject({ repeated: true });
    expect(life.action).toBe('cancel');
    expect(life.state.journal).toHaveLength(2);
    expect(life.told).toEqual(['answered', 'answered', 'answered']);
  });

  it('of a different caller, content or kind of request is refused, by the next run too', () => {
    const life = screened('review');
    send(life, report, keyed('a', 'one'));
    for (const run of [life, life.continued()]) {
      expect(send(run, report, keyed('a', 'other'))).toBe(REUSED);
      expect(send(run, cancel, keyed('a', 'other'))).toBe(REUSED);
      expect(send(run, override('proceed'), keyed('a', 'other'))).toBe(REUSED);
      expect(run.state).toMatchObject({ action: 'hold', actions: [{ kind: 'report-fraud' }] });
    }
  });

  it('of two requests in one task is refused to the second', () => {
    const life = screened('review');
    const inputs = ['one', 'other'].map((fingerprint) => inputOf(report, keyed('a', fingerprint)));
    for (const input of inputs) expect(inputRefusal(life.order, input)).toBeUndefined();
    for (const input of inputs) life.take(input);
    expect(life.told).toEqual(['waits', REUSED]);
  });

  it('waits with a pending action, and then gets its result, or why it failed', () => {
    const life = screened('pass');
    send(life, cancel, keyed('a'));
    send(life, cancel, keyed('a'));
    expect(life.told).toEqual(['waits', 'waits']);
    life.portalEnds('refused');
    expect(life.told).toEqual(['refused-by-screening-service', 'refused-by-screening-service']);
    expect(send(life, cancel, keyed('a'))).toMatchObject({ repeated: true });
    expect(life.told.at(-1)).toBe('refused-by-screening-service');
    expect(life.actions).toEqual(['refused']);
    send(life, cancel, keyed('b'));
    expect(life.actions).toEqual(['refused', 'running']);
  });

  it('is free again after a refusal, which may be different next time', () => {
    const life = screened('review');
    const withdraw: Request = { kind: 'withdraw', request: { number: 1 } };
    expect(send(life, withdraw, keyed('a', 'one'))).toBe('unknown-action');
    expect(send(life, report, keyed('a', 'other'))).toMatchObject({ taken: { action: 1 } });
  });
});

describe('a stored message', () => {
  it('that is sent again, to the next run too, changes nothing', () => {
    const life = screened('review');
    const sent = { updateId: 'stored' };
    send(life, override('proceed'), sent);
    send(life, override('cancel'));
    for (const run of [life, life.continued()]) {
      expect(send(run, override('proceed'), sent)).toMatchObject({ repeated: true });
      expect(run.action).toBe('cancel');
    }
  });

  it('is remembered among the newest thousand, and an attempt by its number', () => {
    const life = screened('review');
    const acknowledge: Request = { kind: 'acknowledge', request: { reason: 'seen' } };
    for (let count = 0; count < 1_100; count += 1) send(life, acknowledge);
    send(life, { kind: 'decision', request: { attempt: 1 } });
    expect(Object.keys(life.order.used ?? {})).toHaveLength(1_000);
    expect(send(life, acknowledge, { updateId: `update-${updates - 1}` })).toMatchObject({ repeated: true });
    expect(JSON.stringify(life.order.used).length).toBeLessThan(100_000);
  });
});

describe('a request that depends on the action that the person saw', () => {
  it('is refused if somebody else has changed it, and changes nothing', () => {
    const life = screened('review');
    expect(send(life, override('proceed'), { ifAction: 'hold' })).toHaveProperty('taken');
    for (const late of [override('cancel'), cancel])
      expect(send(life, late, { ifAction: 'hold' })).toBe('order-changed');
    expect(life).toMatchObject({ action: 'proceed', actions: [] });
    expect(send(life, override('cancel'), { ifAction: 'proceed' })).toHaveProperty('taken');
    expect(life.action).toBe('cancel');
  });

  it('of two in one task is refused to the second', () => {
    const life = screened('review');
    const inputs = [override('proceed'), cancel].map((one) => inputOf(one, { ifAction: 'hold' }));
    for (const input of inputs) expect(inputRefusal(life.order, input)).toBeUndefined();
    for (const input of inputs) life.take(input);
    expect(life.told).toEqual(['answered', 'order-changed']);
    expect(life).toMatchObject({ action: 'proceed', actions: [] });
  });

  it('gets the first answer when it is repeated, though it has changed the action itself', () => {
    const life = screened('review');
    const sent = { ...keyed('a'), ifAction: 'hold' } as const;
    send(life, override('proceed'), sent);
    expect(send(life, override('proceed'), sent)).toMatchObject({ repeated: true });
  });
});
