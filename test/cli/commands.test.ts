import { readFile, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ActionRecord } from '../../src/contract/state.ts';
import { OrderScreeningError } from '../../src/starter.ts';
import { anOrderSummary, aPortalAnswer } from '../api/fake-order-screening.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { anOrderState } from '../fixtures/orders.ts';
import { type Fake, run } from './support.ts';

const FILE = 'examples/orders/fraudulent.json';
const body = JSON.parse(await readFile(FILE, 'utf8'));
const order = { orderId: '1001', integration: 'shop' };
const by = { actor: 'ada' };
const keyed = { idempotencyKey: 'k-1', by };
const KEYED = '--idempotency-key k-1 --actor ada';
const inReview = { phase: 'review', decision: 'review' } as const;
const chargeback = {
  ...{ reason_code: '10.4', due_date: '2099-01-31', notice_date: '2099-01-01', reference_number: 'CB-77' },
  ...{ carrier: 'Post', carrier_tracking_number: 'T1', notes: 'late', inquiry: 'true', force: true },
};
const CHARGEBACK =
  '--reason-code 10.4 --due-date 2099-01-31 --notice-date 2099-01-01 --reference-number CB-77 ' +
  '--carrier Post --carrier-tracking-number T1 --notes late --inquiry --force';

async function aFile(content: string | Buffer): Promise<string> {
  const file = join(await scratchFolder(), 'order.json');
  await writeFile(file, content);
  return file;
}

describe('a command', () => {
  it.each<[method: keyof Fake, asked: unknown[], command: string]>([
    // An option goes before the field of the file.
    [
      'screen',
      [{ ...body, ...order, workflow: 'pre-gateway' }],
      `screen #1001 ${FILE} --workflow pre-gateway`,
    ],
    ['screen', [{ ...body, ...order, attempt: 2 }], `retry 1001 ${FILE} --attempt 2`],
    [
      'recordGatewayResult',
      [order, { result: 'pass', attempt: 2, authcode: '123456', transactionId: 'gw-1' }],
      'gateway-result 1001 pass --attempt 2 --authcode 123456 --transaction-id gw-1',
    ],
    ['get', [order, { view: 'record' }], 'show 1001'],
    ['get', [order, { view: 'full' }], 'show 1001 --full'],
    ['getTransaction', [{ idOrInvoice: '1001', integration: 'shop' }], 'transaction #1001'],
    [
      'list',
      [{ integration: 'shop', ...inReview, attention: false, limit: 1, cursor: 'next' }],
      'list --phase review --decision review --no-attention --limit 1 --cursor next',
    ],
    ['cancel', [order, { reason: 'asked' }, keyed], `cancel 1001 --reason asked ${KEYED}`],
    ['reportFraud', [order, { reason: 'called' }, keyed], `report-fraud 1001 --reason called ${KEYED}`],
    ['submitChargeback', [order, chargeback, keyed], `chargeback 1001 ${CHARGEBACK} ${KEYED}`],
    [
      'attachCustomerCode',
      [order, { customerCode: 'PHONE-4711', email: 'ada@example.com' }, keyed],
      `customer-code 1001 PHONE-4711 --email ada@example.com ${KEYED}`,
    ],
    ['withdraw', [order, { number: 2 }, keyed], `withdraw 1001 2 ${KEYED}`],
    [
      'override',
      [order, { action: 'proceed', reason: 'called' }, keyed],
      `override 1001 --action proceed --reason called ${KEYED}`,
    ],
    ['recheck', [order], 'recheck 1001'],
    ['redeliver', [order, { sequence: 2 }, { by }], 'redeliver 1001 2 --actor ada'],
    ['acknowledge', [order, { reason: 'seen' }, keyed], `acknowledge 1001 --reason seen ${KEYED}`],
  ])('asks %s what it was told, and writes the answer: %j, %s', async (method, asked, command) => {
    const { code, answers, orders } = await run(`${command} --integration shop`);
    expect(code).toBe(0);
    expect(orders[method]).toHaveBeenCalledExactlyOnceWith(...asked);
    const { fingerprint: _ours, ...answer } = Object(await orders[method].mock.results[0]?.value);
    expect(answers).toEqual([JSON.parse(JSON.stringify(answer))]);
  });

  it('names the user of the system who asks unless another is named, and does nothing for no name', async () => {
    const { orders } = await run('cancel 1001');
    expect(orders.cancel.mock.calls[0]?.[2]).toEqual({ by: { actor: userInfo().username } });
    for (const actor of ['', 'x'.repeat(101), 'ada\nbo']) {
      const refused = await run(['cancel', '1001', '--actor', actor]);
      expect([refused.code, refused.problem?.errors]).toMatchObject([2, [{ path: '--actor' }]]);
      if (actor !== '') expect(JSON.stringify(refused.problem)).not.toContain(actor);
      expect(refused.orders.cancel).not.toHaveBeenCalled();
    }
  });

  it.each([
    ['done', 0],
    ['withdrawn', 0],
    ['requested', 7],
  ] as const)('about a portal action that is %s ends with %i', async (status, code) => {
    const answer = aPortalAnswer({ number: 2, status });
    const ended = await run('withdraw 1001 2', ({ withdraw }) => withdraw.mockResolvedValue(answer));
    expect(ended).toMatchObject({ code, answers: [{ number: 2, status }] });
  });

  it('that is refused says so with all that goes with it', async () => {
    const details = { cancelBy: '2026-03-06T10:00:00.000Z', serviceCode: '403', serviceMessage: 'No' };
    const refused = new OrderScreeningError('cancel-window-closed', 'Too late.', details);
    const ended = await run('cancel 1001', ({ cancel }) => cancel.mockRejectedValue(refused));
    expect(ended).toMatchObject({ code: 3, answers: [] });
    expect(ended.problem).toEqual({ type: 'cancel-window-closed', detail: 'Too late.', ...details });
  });

  it.each([
    ['no JSON', '{"transaction": top-secret', 'The file'],
    ['no UTF-8', Buffer.from('{"workflow": "top-secret M\xfcller"}', 'latin1'), 'UTF-8'],
    ['a list', '["top-secret"]', 'The file'],
    ['an order id in the body', '{"orderId": "top-secret", "transaction": {}}', 'an error'],
  ])('does nothing with %s, and does not echo it', async (_what, content, words) => {
    const { code, problem, orders } = await run(['screen', '1001', await aFile(content)]);
    expect([code, problem?.detail]).toEqual([2, expect.stringContaining(words)]);
    expect(JSON.stringify(problem)).not.toContain('top-secret');
    expect(orders.screen).not.toHaveBeenCalled();
  });

  it('takes a file with a mark at its beginning, and does nothing without its file', async () => {
    const { orders } = await run(['screen', '1001', await aFile('\ufeff{"transaction": {}}')]);
    expect(orders.screen).toHaveBeenCalledWith({ orderId: '1001', transaction: {} });
    const { code, problem } = await run('screen 1001 top-secret.json');
    expect([code, problem?.errors]).toEqual([2, [{ path: '<file>', message: "can't be read (ENOENT)" }]]);
  });
});

describe('watch', () => {
  const waiting = anOrderState({ ...inReview, action: 'hold' });
  const requestedAt = '2026-03-01T10:00:00.000Z';
  const asked = { number: 7, kind: 'cancel', subject: 'x', by: 'caller', requestedAt } as const;
  const failed = (phase: 'canceled' | 'decided', status: ActionRecord['status']) =>
    anOrderState({ phase, decision: 'fail', actions: [{ ...asked, status }] });
  const away = new OrderScreeningError('temporal-unavailable', 'Away.');
  const WATCH = 'watch order-1 --every 0.001';

  it('writes a line for each change of an order, until it rests: not before its cancel is over', async () => {
    const { code, answers } = await run(WATCH, ({ get }) => {
      for (const state of [waiting, waiting, failed('decided', 'running'), failed('canceled', 'done')])
        get.mockResolvedValueOnce(state);
    });
    expect(code).toBe(0);
    expect(answers).toMatchObject([
      { orderId: 'order-1', ...inReview, action: 'hold' },
      { phase: 'decided', decision: 'fail', actions: [{ kind: 'cancel', status: 'running' }] },
      { phase: 'canceled', actions: [{ kind: 'cancel', status: 'done' }] },
    ]);
  });

  it('ends with 7 when the order does not rest in time', async () => {
    const tired = await run(`${WATCH} --timeout 0.01 --table`, ({ get }) => get.mockResolvedValue(waiting));
    expect(tired.code).toBe(7);
    expect(tired.answers).toEqual([expect.stringMatching(/ {2}review {2}decision review/)]);
  });

  it('sits an outage out once it has looked, and says so once', async () => {
    const { code, notices } = await run(WATCH, ({ get }) =>
      get.mockResolvedValueOnce(waiting).mockRejectedValueOnce(away).mockRejectedValueOnce(away),
    );
    expect([code, notices]).toEqual([0, ['Temporal or a worker does not answer; still watching']]);
    expect((await run(WATCH, ({ get }) => get.mockRejectedValue(away))).code).toBe(5);
  });

  it('of the list shows who comes, who changes and who is gone', async () => {
    const one = anOrderSummary();
    const pages = [[], [one], [one], [{ ...one, needsAttention: true }]];
    const { code, answers, orders } = await run(
      'watch --phase review --every 0.001 --timeout 1',
      ({ list }) => {
        for (const shown of pages) list.mockResolvedValueOnce({ orders: shown });
      },
    );
    expect(code).toBe(0);
    expect(answers).toMatchObject([one, { needsAttention: true }, { orderId: 'order-1', gone: true }]);
    expect(orders.list).toHaveBeenCalledWith({ phase: 'review' });
  });
});
