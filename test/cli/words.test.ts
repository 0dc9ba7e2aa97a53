/** What commands write for people, without control characters. */
import { expect, it, vi } from 'vitest';
import { createOutput } from '../../src/cli/output.ts';
import { anOrderState } from '../fixtures/orders.ts';
import {
  aCheckoutAnswer,
  anOrderSummary,
  aPortalAnswer,
  aTransactionStatus,
} from '../server/api/fake-order-screening.ts';
import { type Fake, run } from './support.ts';

const at = '2026-03-09T11:00:00.000Z';
const chargeback = { reason_code: '10.4', reference_number: 'CB\u001b-1' };
const by = { key: 'ops', actor: 'ada' };
const asked = { number: 7, subject: 'x', by: 'caller', requestedAt: at } as const;
const order = anOrderState({
  actions: [{ ...asked, kind: 'chargeback', status: 'not-sent', chargeback }],
  journal: [{ at, what: 'override', action: 'proceed', by, because: 'showed the card' }],
});
const ofOrder = [
  /^order +order-1 .*\nphase +decided, since .*\ndecision +pass\n/,
  /│ 7 +│ chargeback +│ not-sent.*reason_code 10\.4, reference_number CB -1/,
  /2026-03-09 11:00:00Z.*override proceed.*ops.*ada.*showed the card/,
];
const decision = { decision: 'fail', action: 'cancel', attempt: 1, transactionId: 't-1', at } as const;
const afterEnd = { decisions: [decision], actions: [], redeliveries: [], incomplete: true };
const withEvents = {
  ...order,
  startedAt: at,
  events: { sequence: Date.parse(at) / 1_000 + 3, delivered: 2, waiting: 1 },
};
const list = { orders: [anOrderSummary()], cursor: 'abc' };
const ended = [anOrderSummary({ closedAt: at }), anOrderSummary({ closedAt: at, phase: 'canceled' })];
const screen = 'screen order-1 examples/orders/fraudulent.json';

const ofAction = [/^number +7$/m, /^chargeback\.reason_code +10\.4/m];
const ofCheckout = [/^action +proceed$/m, /^message +Call us$/m];
const ofTransaction = /^id +[\w-]{36}\ndecision +review\n(?:.*\n)*order\.orderId +order-1$/m;

it.each<[command: string, method: keyof Fake, answer: unknown, patterns: RegExp[]]>([
  ['show order-1', 'get', order, ofOrder],
  ['show order-1', 'get', { ...order, afterEnd }, [/decision fail +│ .*:00Z │ cancel/, /Not everything/]],
  ['show order-1', 'get', withEvents, [/^events +2 of 3 delivered$/m]],
  [
    'show order-1',
    'get',
    { ...order, closedAt: at },
    [/^lost +since .* 11:00:00Z: .*order-screening repair/m],
  ],
  ['withdraw 1001 7', 'withdraw', aPortalAnswer({ number: 7, chargeback }), ofAction],
  [screen, 'screen', aCheckoutAnswer({ message: 'Call\u001bus' }), ofCheckout],
  ['list', 'list', list, [/│ order-1 +│ default +│ review .*│ 125\.50/, /More: --cursor abc/]],
  ['list', 'list', { orders: ended }, [/│ review \(lost\) +│/, /│ canceled +│/]],
  ['transaction 1', 'getTransaction', aTransactionStatus(), [ofTransaction]],
])('%s shows what %s returned', async (command, method, answer, patterns) => {
  const { code, answers } = await run(`${command} --table`, (orders) =>
    orders[method].mockResolvedValue(answer as never),
  );
  expect(code).toBe(0);
  for (const pattern of patterns) expect(answers[0]).toMatch(pattern);
});

it('an unanswered checkout shows the action of the policy', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const output = createOutput(false, () => undefined);
  output.problem({ type: 'temporal-unavailable', detail: 'No answer', action: 'hold', recorded: false });
  expect(write).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/repeat is answered: hold\n$/));
  write.mockRestore();
});
