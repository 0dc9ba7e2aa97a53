import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { created, DAY_MS, decidedAs, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const ask = (sandbox: Sandbox, method: string, path: string, body?: unknown) =>
  send(method, `${sandbox.url}/_sandbox${path}`, body);

describe('the control plane', () => {
  it.each(['A-1', '%23A-1', 'ID'])('decides a review by %s, and shows it', async (of) => {
    const sandbox = await startSandbox();
    const id = await created(sandbox, decidedAs('review'));
    const path = `/transactions/${of.replace('ID', id)}`;
    const decided = await ask(sandbox, 'POST', `${path}/decision`, { decision: 'fail' });
    const decisions = [{ by: 'screening' }, { by: 'analyst' }];
    expect(decided).toMatchObject({ status: 200, body: [{ id, decision: 'fail', decisions }] });
    expect((await ask(sandbox, 'GET', path)).body).toEqual(decided.body);
    expect((await ask(sandbox, 'GET', '/transactions')).body).toEqual(decided.body);
    expect((await ask(sandbox, 'GET', '/transactions/none')).status).toBe(404);
  });

  it('decides, by invoice number, what is in review, else the newest', async () => {
    const sandbox = await startSandbox();
    for (const word of ['fail', 'review', 'pass']) await created(sandbox, decidedAs(word));
    const decisions = () => sandbox.control.transactions('A-1').map(({ decision }) => decision);
    sandbox.control.decide('A-1', 'pass');
    expect(decisions()).toEqual(['fail', 'pass', 'pass']);
    sandbox.control.decide('A-1', 'fraudulent');
    expect(decisions()).toEqual(['fail', 'pass', 'fraudulent']);
  });

  it('reads the ledger by operation, invoice number and sequence', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    await created(sandbox, transaction({ order: { invoiceNumber: 'A-2' } }));
    await send('GET', `${sandbox.url}/nowhere`);
    await portal(sandbox, 'cancel-transaction', { transaction_id: id });
    for (const [query, sequences] of [
      ['', [1, 2, 3, 4]],
      ['?operation=create-transaction', [1, 2]],
      ['?operation=unknown', [3]],
      ['?since=1&invoice=A-1', [4]],
    ] as const) {
      const { body } = await ask(sandbox, 'GET', `/ledger${query}`);
      expect(body).toMatchObject(sequences.map((sequence) => ({ sequence })));
    }
    const about = { operation: 'cancel-transaction', transactionId: id, invoiceNumber: 'A-1' };
    const times = { at: expect.any(String), wallAt: expect.any(String), callerPort: expect.any(Number) };
    const outcome = { status: 200, code: 200, decision: 'pass' };
    const { body } = await ask(sandbox, 'GET', '/ledger?since=3');
    const entry = { sequence: 4, ...about, base: 'portal', outcome, committed: true, fault: null };
    expect(body).toEqual([{ ...entry, ...times }]);
  });

  it('moves the clock, which dates transactions and the ledger', async () => {
    const sandbox = await startSandbox();
    expect((await ask(sandbox, 'POST', '/clock', { advanceMs: DAY_MS })).body.offsetMs).toBe(DAY_MS);
    await ask(sandbox, 'POST', '/clock', { now: '2031-05-01T12:00:00Z' });
    await created(sandbox);
    const times = [sandbox.control.transactions()[0]?.createdAt, sandbox.control.ledger()[0]?.at];
    for (const at of [(await ask(sandbox, 'GET', '/clock')).body.now, ...times])
      expect(at).toMatch(/^2031-05-01T12/);
  });

  it('sets faults, keys, the portal, a coverage and the webhooks, and resets all of it', async () => {
    const sandbox = await startSandbox();
    const statusOf = async (key: string) =>
      (await send('POST', sandbox.testBaseUrl, transaction({ 'nf-token': key }))).status;
    const id = await created(sandbox, decidedAs('review'));
    const plan = { seed: 7, faults: [{ operation: 'create-transaction', kind: '429', times: 1 }] };
    await ask(sandbox, 'POST', '/faults', plan);
    expect((await ask(sandbox, 'GET', '/faults')).body).toEqual({ ...plan, played: [] });
    await ask(sandbox, 'POST', '/keys', { test: 'rotated' });
    expect([await statusOf(TEST_KEY), await statusOf(TEST_KEY), await statusOf('rotated')]).toEqual([
      429, 403, 200,
    ]);
    const played = [{ operation: 'create-transaction', kind: '429', count: 1 }];
    expect((await ask(sandbox, 'DELETE', '/faults')).body).toMatchObject({ faults: [], played });
    await ask(sandbox, 'PUT', '/portal', { codeType: 'string' });
    const settings = { codeType: 'string', covered: true, cancelWindowMs: 5 * DAY_MS };
    expect((await ask(sandbox, 'GET', '/portal')).body).toEqual(settings);
    const cover = await ask(sandbox, 'POST', `/transactions/${id}/coverage`, { covered: false });
    expect(cover.body).toMatchObject([{ id, covered: false }]);
    await ask(sandbox, 'PUT', '/webhooks', { url: 'http://127.0.0.1:1/' });
    sandbox.control.decide(id, 'fail');
    expect(sandbox.control.ledger({ operation: 'webhook' })).toHaveLength(1);
    expect((await ask(sandbox, 'GET', '/customer-codes')).body).toEqual([]);
    await ask(sandbox, 'POST', '/reset');
    expect(sandbox.control.faults().played).toEqual([]);
    expect(sandbox.control.portal().codeType).toBe('number');
    await created(sandbox);
    expect(sandbox.control.ledger()).toMatchObject([{ sequence: 1 }]);
  });

  it.each<[method: string, path: string, body: object | undefined, paths: string[]]>([
    ['POST', '/transactions/A-1/decision', { decision: 'maybe' }, ['decision']],
    ['POST', '/transactions/A-1/coverage', {}, ['covered']],
    ['POST', '/clock', { advanceMs: 'a day' }, ['']],
    ['POST', '/clock', { advanceMs: 8_640_000_000_000_001 }, ['advanceMs']],
    ['POST', '/keys', { test: '', production: 'x' }, ['test', '']],
    ['PUT', '/webhooks', { url: 'file:///etc/passwd', method: 'TRACE' }, ['url', 'method']],
    ['PUT', '/webhooks', { headers: { 'a b': 'c' } }, ['headers.a b']],
    ['PUT', '/webhooks', { headers: { key: '€' } }, ['headers.key']],
    ['PUT', '/portal', { codeType: 'roman', cancelWindowMs: -1 }, ['codeType', 'cancelWindowMs']],
    ['GET', '/ledger?operation=none&since=-1', undefined, ['operation', 'since']],
    ...[
      { operation: 'webhook', kind: '429', wrong: ['kind'] },
      { operation: 'customer-code', kind: 'lost', wrong: ['kind'] },
      { operation: 'status', kind: 'refused-in-body', wrong: ['kind'] },
      { operation: 'status', kind: 'delay', wrong: ['delayMs'] },
      { operation: 'status', kind: '5xx-before-commit', status: 404, wrong: ['status'] },
      { operation: 'nothing', kind: 'x', probability: 2, wrong: ['operation', 'kind', 'probability'] },
    ].map(({ wrong, ...fault }): [string, string, object, string[]] => [
      'POST',
      '/faults',
      { faults: [fault] },
      wrong.map((field) => `faults.0.${field}`),
    ]),
  ])('%s %s refuses %o and lists every fault', async (method, path, body, paths) => {
    const reply = await ask(await startSandbox(), method, path, body);
    expect(reply.status).toBe(400);
    expect(reply.body.errors).toEqual(paths.map((at) => ({ path: at, message: expect.stringMatching(/./) })));
  });

  it('answers callers on this machine only', async ({ skip }) => {
    const addresses = Object.values(networkInterfaces()).flat();
    const outside = addresses.find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (outside === undefined) return skip('this machine has no address but loopback');
    const { port } = new URL((await startSandbox({ host: '0.0.0.0' })).url);
    expect((await send('GET', `http://127.0.0.1:${port}/_sandbox/clock`)).status).toBe(200);
    expect((await send('POST', `http://${outside}:${port}/_sandbox/reset`)).status).toBe(403);
    expect((await send('POST', `http://${outside}:${port}/test`, transaction())).status).toBe(200);
  });
});
