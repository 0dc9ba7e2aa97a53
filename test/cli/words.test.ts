/** What commands write for people. */
import { expect, it } from 'vitest';
import type { OrderList } from '../../src/starter.ts';
import {
  aCheckoutAnswer,
  anOrderSummary,
  aPortalAnswer,
  aTransactionStatus,
} from '../api/fake-order-screening.ts';
import { anOrderState } from '../fixtures/orders.ts';
import { asked, type Fake, run } from './support.ts';

const at = (hour: number) => `2026-03-09T${hour}:00:00.000Z`;
const attempt = {
  number: 1,
  startedAt: asked.requestedAt,
  screenUntil: asked.requestedAt,
  decision: 'pass',
  readings: [],
  rescreens: 0,
  override: { action: 'proceed', reason: 'called CB\u001b-1', by: 'person', at: asked.requestedAt },
} as const;
const order = anOrderState({
  attempts: [{ ...attempt, readings: [] }],
  actions: [
    { ...asked, chargeback: { reason_code: '10.4', reference_number: 'CB\u001b-1' } },
    { ...asked, number: 8, status: 'not-sent' },
    { ...asked, number: 9, status: 'withdrawn' },
  ],
  journal: [
    {
      at: at(11),
      what: 'override',
      action: 'proceed',
      by: { key: 'ops', actor: 'ada' },
      because: 'showed the card',
    },
    { at: at(11), what: 'withdraw', number: 3 },
  ],
});
const afterEnd = {
  decisions: [{ decision: 'fail', action: 'cancel', attempt: 1, transactionId: 't-1', at: at(12) }],
  actions: [{ kind: 'report-fraud', status: 'done', requestedAt: at(11), code: '200' }],
  redeliveries: [{ sequence: 2, status: 'delivered', requestedAt: at(13) }],
  incomplete: true,
} as const;
const list: OrderList = { orders: [anOrderSummary()], cursor: 'abc' };
const FILE = 'examples/orders/fraudulent.json';

it.each<[what: string, command: string, method: keyof Fake, answer: object, patterns: RegExp[]]>([
  [
    'an order: its actions with number, status and what the service echoed, and who did what, and why',
    'show order-1',
    'get',
    order,
    [
      /^order +order-1 .*\nphase +decided, since .*\ndecision +pass\n/,
      /^override +proceed, 2026-03-01 10:00:00Z \(called CB -1\)$/m,
      /│ attempt │ decision │/,
      /│ 7 +│ chargeback +│ done.*reason_code 10\.4, reference_number CB -1/,
      /│ 8 +│ chargeback +│ not-sent/,
      /│ 9 +│ chargeback +│ withdrawn/,
      /2026-03-09 11:00:00Z.*override proceed.*ops.*ada.*showed the card/,
      /withdraw 3.*-.*-/,
    ],
  ],
  [
    'what came after an order’s end, the oldest first',
    'show order-1',
    'get',
    { ...anOrderState(), afterEnd },
    [
      /report-fraud +│ 2026-03-09 11:00:00Z │ done 200 +│\n.*decision fail +│ .*12:00:00Z │ cancel +│\n.*event 2 sent again +│ .*13:00:00Z │ delivered/,
      /Not everything could be read this time: show the order again\.$/,
    ],
  ],
  [
    'a portal action',
    'withdraw 1001 7',
    'withdraw',
    aPortalAnswer({ number: 7, kind: 'chargeback', chargeback: { reason_code: '10.4' } }),
    [/^number +7$/m, /^chargeback\.reason_code +10\.4$/m],
  ],
  [
    'the answer to a checkout, without control characters',
    `screen order-1 ${FILE}`,
    'screen',
    aCheckoutAnswer({ action: 'decline', message: 'Call\u001bus' }),
    [/^action +decline$/m, /^message +Call us$/m],
  ],
  [
    'a list with its next page',
    'list',
    'list',
    list,
    [/│ order-1 +│ default +│ review .*│ 125\.50/, /More: --cursor abc/],
  ],
  [
    'a transaction and the order that owns it',
    'transaction 1001',
    'getTransaction',
    aTransactionStatus({ decision: 'fail', message: 'So\u001bsorry' }),
    [/^id +[\w-]{36}\n/, /^decision +fail$/m, /^message +So sorry$/m, /^order\.orderId +order-1$/m],
  ],
  [
    'a transaction that no order owns',
    'transaction 1001',
    'getTransaction',
    { id: '1', decision: 'pass' },
    [/^id {8}1\ndecision {2}pass$/],
  ],
])('words and tables show %s', async (_what, command, method, answer, patterns) => {
  const { code, answers } = await run([...command.split(' '), '--table'], (orders) =>
    orders[method].mockResolvedValue(answer as never),
  );
  expect(code).toBe(0);
  for (const pattern of patterns) expect(answers[0]).toMatch(pattern);
});
