/** Sending the payment gateway’s result on to the screening service. */
import { describe, expect, it } from 'vitest';
import { gatewayRefusal, gatewayReplyAfterEnd } from '../../../src/order/concerns/gateway.ts';
import { answered, around, DAY, HOUR, MINUTE, sinceStart, TRANSACTION_ID } from '../../fixtures/orders.ts';
import { type Life, screened } from '../life.ts';

const PRE = { workflow: 'pre-gateway' } as const;
const PROCEEDING = { ...PRE, whenUnavailable: 'proceed' } as const;

describe('a result that was sent on', () => {
  /** An order whose first transaction has no decision, and which is screened again; its gateway passed. */
  const screenedAgain = () => screened('error', PROCEEDING).gateway('pass', 0);
  const sentFor = (life: Life) => life.calls('gateway').map(({ request }) => request.transactionId);
  const SENT = { kind: 'gateway', outcome: { kind: 'sent' } } as const;
  const REFUSED = { kind: 'gateway', outcome: { kind: 'refused', words: 'No.' } } as const;

  it('is sent for the next transaction, too, when the order is screened again', () => {
    const life = screenedAgain().end(SENT, 0).until(MINUTE).caughtUp(answered('pass', 'second'), MINUTE);
    expect(sentFor(life)).toEqual([TRANSACTION_ID, 'second']);
    life.end(SENT, HOUR);
    expect(life.state.attempts[0]?.gateway?.sent).toBe(sinceStart(HOUR));
    expect(life.underWay).toEqual([]);
  });

  it('and refused asks for attention', () => {
    const life = screenedAgain().end(REFUSED, 0);
    expect(life.state.attempts[0]?.gateway?.sent).toBe('not-sent');
    expect(life.attention).toEqual(['gateway-refused']);
  });

  it('and refused is sent again when it is reported again', () => {
    const life = screened('pass', PRE).gateway('pass', 0).end(REFUSED, 0).gateway('pass', MINUTE);
    expect([life.attention, sentFor(life)]).toEqual([[], [TRANSACTION_ID, TRANSACTION_ID]]);
    expect(life.end(REFUSED, HOUR).attention).toEqual(['gateway-refused']);
    life
      .gateway('pass', 2 * HOUR)
      .end(SENT, 2 * HOUR)
      .gateway('pass', 3 * HOUR);
    expect(life).toMatchObject({ attention: [], underWay: [] });
    expect(sentFor(life)).toHaveLength(3);
  });

  it('and refused is sent again also when a person has acknowledged the attention to it', () => {
    const life = screened('pass', PRE).gateway('pass', 0).end(REFUSED, 0).acknowledge(MINUTE);
    expect(life.attention).toEqual([]);
    expect(sentFor(life.gateway('pass', HOUR))).toHaveLength(2);
  });

  it('and refused is resolved by a result that replaces it, also if the refusal comes later', () => {
    const life = screened('pass', PRE).gateway('error', 0).end(REFUSED, 0);
    expect(life.attention).toContain('gateway-refused');
    expect(life.gateway('pass', MINUTE).attention).toEqual([]);
    const late = screened('pass', PRE).gateway('error', 0).gateway('pass', MINUTE).end(REFUSED, MINUTE);
    expect(late.attention).toEqual([]);
    expect(late.end(SENT, HOUR).attention).toEqual([]);
  });

  it('and refused is not resolved by the result of another attempt', () => {
    const life = screened('pass', PRE).gateway('fail', 0).end(REFUSED, 0).retry(2, MINUTE);
    expect(life.gateway('pass', 2 * MINUTE).attention).toEqual(['gateway-refused']);
  });

  it.each([
    ['refused', (life: Life) => life.end(REFUSED, 0)],
    ['given up', (life: Life) => life],
  ])('and %s is left to the client library when it is reported again after the order’s end', (_how, so) => {
    const { state } = so(screened('pass', PRE).gateway('pass', 0)).until(30 * DAY);
    expect(gatewayRefusal(around(state), { result: 'pass' })?.code).toBe('order-closed');
    const again = gatewayReplyAfterEnd(structuredClone(state), { result: 'pass' }, sinceStart(30 * DAY));
    expect(again).toMatchObject({ sendFor: TRANSACTION_ID, gateway: { result: 'pass' } });
    const other = gatewayReplyAfterEnd(state, { result: 'fail' }, sinceStart(30 * DAY));
    expect(other).toMatchObject({ refusal: { code: 'order-closed' } });
  });
});
