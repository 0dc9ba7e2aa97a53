/** A result of an earlier attempt that was told to go to the gateway: the customer paid again before anybody knew how that payment ended. */
import { expect, it } from 'vitest';
import type { GatewayResult } from '../../../src/contract/words.ts';
import { DAY, HOUR, MINUTE, TRANSACTION_ID } from '../../fixtures/orders.ts';
import { type Life, screened } from '../life.ts';

const sent = (life: Life, ms: number) => life.end({ kind: 'gateway', outcome: { kind: 'sent' } }, ms);

function retriedAfter(...first: readonly GatewayResult[]): Life {
  const policy = { workflow: 'pre-gateway', whenUnavailable: 'proceed' } as const;
  const life = screened('error', { ...policy, rescreenOnError: { tries: 0, pauseMs: 0 } });
  for (const result of first) sent(life.gateway(result, MINUTE), MINUTE);
  return life.retry(2, MINUTE).retried('pass', MINUTE);
}

function paidAgain(...first: readonly GatewayResult[]): Life {
  return sent(retriedAfter(...first).gateway('pass', MINUTE, 2), MINUTE);
}

it.each([[['error']], [[]]] as const)('%j and then fail: the attention to an error ends', (first) => {
  const life = paidAgain(...first);
  const shown = () => [life.action, life.phase, life.attention];
  expect(shown()).toEqual(['proceed', 'decided', first.map(() => 'gateway-error')]);
  life.gateway('error', HOUR, 1);
  expect(shown()).toEqual(['proceed', 'decided', ['gateway-error']]);
  life.gateway('fail', HOUR, 1);
  expect(shown()).toEqual(['proceed', 'decided', []]);
  expect(life.replies.slice(-2)).toMatchObject([
    { gateway: { action: 'hold' } },
    { gateway: { action: 'decline' } },
  ]);
});

it.each([[['error']], [[]]] as const)('%j and then pass: it is sent on, and a person is told', (first) => {
  const life = paidAgain(...first).gateway('pass', HOUR, 1);
  expect(life.replies.at(-1)).toMatchObject({ gateway: { attempt: 1, result: 'pass', action: 'hold' } });
  expect(life).toMatchObject({ action: 'proceed', phase: 'decided' });
  const words = expect.stringMatching(/attempt 1\b.*\brefund/);
  expect(life.state.attention).toMatchObject([{ code: 'gateway-contradiction', words }]);
  expect(life.calls('gateway').at(-1)).toMatchObject({
    request: { transactionId: TRANSACTION_ID, attempt: 1, gateway: { result: 'pass' } },
  });
  // Again: nothing is new.
  sent(life, HOUR).gateway('pass', 2 * HOUR, 1);
  expect(life).toMatchObject({ underWay: [], attention: ['gateway-contradiction'] });
});

it('is sent although the newest attempt was skipped', () => {
  const policy = { workflow: 'pre-gateway', whenUnavailable: 'proceed' } as const;
  const life = screened('error', { ...policy, rescreenOnError: { tries: 0, pauseMs: 0 } });
  life.retry(2, MINUTE).retried({ kind: 'skipped', rule: 1 }, MINUTE);
  expect(life.gateway('fail', HOUR, 1).underWay).toContain(`gateway:1:fail:${TRANSACTION_ID}`);
});

it('leaves the attention to the newest attempt’s overdue result', () => {
  const life = retriedAfter().until(1.5 * DAY);
  expect(life.gateway('fail', 1.5 * DAY, 1).attention).toEqual(['gateway-late']);
});

it('pass, before the order took another attempt: a person is told with its answer', () => {
  const life = retriedAfter('pass');
  expect(life).toMatchObject({ action: 'proceed', attention: ['gateway-contradiction'] });
  expect(life.state.attention).toMatchObject([{ cause: { attempt: 1 } }]);
});
