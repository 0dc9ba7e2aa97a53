import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OrderScreeningError } from '../../src/starter.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { type Fake, run } from './support.ts';

const FILE = 'examples/orders/fraudulent.json';
const body = JSON.parse(await readFile(FILE, 'utf8'));
const order = { orderId: '1001', integration: 'shop' };
const by = { actor: 'ada' };
const keyed = { idempotencyKey: 'k-1', ifAction: 'hold', by };

async function aFile(content: string | Buffer): Promise<string> {
  const file = join(await scratchFolder(), 'order.json');
  await writeFile(file, content);
  return file;
}

/** Each command that acts on an order, without the options of all of them. */
const ACTS: [method: keyof Fake, request: object, command: string][] = [
  ['cancel', { reason: 'asked' }, 'cancel 1001 --reason asked'],
  ['reportFraud', { reason: 'called' }, 'report-fraud 1001 --reason called'],
  [
    'submitChargeback',
    {
      ...{
        reason_code: '10.4',
        due_date: '2099-01-31',
        notice_date: '2099-01-01',
        reference_number: 'CB-77',
      },
      ...{ carrier: 'Post', carrier_tracking_number: 'T1', notes: 'late', inquiry: 'true', force: true },
    },
    'chargeback 1001 --reason-code 10.4 --due-date 2099-01-31 --notice-date 2099-01-01 --reference-number CB-77 --carrier Post --carrier-tracking-number T1 --notes late --inquiry --force',
  ],
  [
    'attachCustomerCode',
    { customerCode: 'PHONE-4711', email: 'ada@example.com' },
    'customer-code 1001 PHONE-4711 --email ada@example.com',
  ],
  ['withdraw', { number: 2 }, 'withdraw 1001 2'],
  ['override', { action: 'proceed', reason: 'called' }, 'override 1001 --action proceed --reason called'],
  [
    'acknowledge',
    { reason: 'seen', until: '2030-01-31T11:00:00.000Z' },
    'acknowledge 1001 --reason seen --until 2030-01-31T12:00:00+01:00',
  ],
  ['note', { text: 'called' }, 'note 1001 --text called'],
  ['assign', { assignee: 'bo' }, 'assign 1001 --assignee bo'],
  ['assign', { assignee: null }, 'assign 1001'],
  [
    'snooze',
    { until: '2030-01-31T11:00:00.000Z', note: 'later' },
    'snooze 1001 --until 2030-01-31T12:00:00+01:00 --note later',
  ],
];

describe('a command', () => {
  const filters = { phase: 'review', decision: 'review', attention: false, limit: 1, cursor: 'next' };
  const gateway = { result: 'pass', attempt: 2, authcode: '123456', transactionId: 'gw-1' };
  it.each<[method: keyof Fake, asked: unknown[], command: string]>([
    // An option goes before the field of the file.
    [
      'screen',
      [{ ...body, ...order, workflow: 'pre-acceptance' }],
      `screen #1001 ${FILE} --workflow pre-acceptance`,
    ],
    ['screen', [{ ...body, ...order, attempt: 2 }], `retry 1001 ${FILE} --attempt 2`],
    [
      'recordGatewayResult',
      [order, gateway],
      'gateway-result 1001 pass --attempt 2 --authcode 123456 --transaction-id gw-1',
    ],
    ['get', [order, { view: 'record' }], 'show 1001'],
    ['get', [order, { view: 'full' }], 'show 1001 --full'],
    ['getTransaction', [{ idOrInvoice: '1001', integration: 'shop' }], 'transaction #1001'],
    [
      'list',
      [{ integration: 'shop', ...filters }],
      'list --phase review --decision review --no-attention --limit 1 --cursor next',
    ],
    ['recheck', [order], 'recheck 1001'],
    ['redeliver', [order, { sequence: 2 }, { by }], 'redeliver 1001 2 --actor ada'],
    ['redeliver', [order, { sequence: 1_773_050_401 }, { by }], 'redeliver 1001 1773050401 --actor ada'],
    ...ACTS.map(([method, request, command]): [keyof Fake, unknown[], string] => [
      method,
      [order, request, keyed],
      `${command} --idempotency-key k-1 --if-action hold --actor ada`,
    ]),
  ])('asks %s what it was told, and writes the answer: %j, %s', async (method, asked, command) => {
    const { code, answers, orders } = await run([...command.split(' '), '--integration', 'shop']);
    expect(code).toBe(0);
    expect(orders[method]).toHaveBeenCalledExactlyOnceWith(...asked);
    const answer: unknown = await orders[method].mock.results[0]?.value;
    expect(answers).toEqual([JSON.parse(JSON.stringify(answer))]);
  });

  it.each<[method: 'withdraw' | 'redeliver', status: string, code: number]>([
    ['withdraw', 'done', 0],
    ['withdraw', 'withdrawn', 0],
    ['withdraw', 'requested', 7],
    ['redeliver', 'requested', 7],
  ])('%s whose answer is %s ends with %i', async (method, status, code) => {
    const answer = { orderId: '1001', integration: 'default', status };
    const ended = await run([method, '1001', '2'], (orders) =>
      orders[method].mockResolvedValue(answer as never),
    );
    expect(ended).toMatchObject({ code, answers: [answer] });
  });

  it('that is refused says so with all that goes with it', async () => {
    const details = { cancelBy: '2026-03-06T10:00:00.000Z', serviceCode: '403', serviceMessage: 'No' };
    const ended = await run(['cancel', '1001'], ({ cancel }) =>
      cancel.mockRejectedValue(new OrderScreeningError('cancel-window-closed', 'Too late.', details)),
    );
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
    expect(code).toBe(2);
    expect(problem?.detail).toContain(words);
    expect(JSON.stringify(problem)).not.toContain('top-secret');
    expect(orders.screen).not.toHaveBeenCalled();
  });

  it('takes a file with a mark at its beginning', async () => {
    const { code, orders } = await run(['screen', '1001', await aFile('\ufeff{"transaction": {}}')]);
    expect(code).toBe(0);
    expect(orders.screen).toHaveBeenCalledWith({ orderId: '1001', transaction: {} });
  });

  it('does nothing without its file', async () => {
    const { code, problem } = await run(['screen', '1001', 'top-secret.json']);
    expect(code).toBe(2);
    expect(problem?.errors).toEqual([{ path: '<file>', message: "can't be read (ENOENT)" }]);
  });
});
