import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  controlPlane,
  created,
  DAY_MS,
  decidedAs,
  LIVE_KEY,
  portal,
  send,
  startSandbox,
  TEST_KEY,
  transaction,
} from './support.ts';

describe('the control plane', () => {
  it('decides a review by id or by invoice number', async () => {
    const sandbox = await startSandbox();
    for (const [invoiceNumber, of] of [
      ['A-1', () => 'A-1'],
      ['A-2', (id: string) => id],
      ['A-3', () => '%23A-3'],
    ] as const) {
      const id = await created(sandbox, decidedAs('review', { order: { invoiceNumber } }));
      const reply = await controlPlane(sandbox, 'POST', `/transactions/${of(id)}/decision`, {
        decision: 'fail',
      });
      expect(reply.status).toBe(200);
      expect(reply.body).toMatchObject([
        { id, decision: 'fail', decisions: [{ by: 'screening' }, { by: 'analyst' }] },
      ]);
    }
  });

  it('decides, by invoice number, what is in review, else the newest', async () => {
    const sandbox = await startSandbox();
    await created(sandbox, decidedAs('fail'));
    await created(sandbox, decidedAs('review'));
    await created(sandbox, decidedAs('pass'));
    const decisions = () => sandbox.control.transactions('A-1').map(({ decision }) => decision);
    sandbox.control.decide('A-1', 'pass');
    expect(decisions()).toEqual(['fail', 'pass', 'pass']);
    sandbox.control.decide('A-1', 'fraudulent');
    expect(decisions()).toEqual(['fail', 'pass', 'fraudulent']);
  });

  it('shows every transaction, and all with one invoice number', async () => {
    const sandbox = await startSandbox();
    const ids = [await created(sandbox), await created(sandbox)];
    const other = await created(sandbox, transaction({ order: undefined }));
    const idsAt = async (path: string) =>
      (await controlPlane(sandbox, 'GET', path)).body.map(({ id }: { id: string }) => id);
    expect(await idsAt('/transactions')).toEqual([...ids, other]);
    expect(await idsAt('/transactions/A-1')).toEqual(ids);
    expect(await idsAt(`/transactions/${other}`)).toEqual([other]);
    expect((await controlPlane(sandbox, 'GET', '/transactions/none')).status).toBe(404);
  });

  it('reads the ledger by operation, invoice number and sequence', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    await created(sandbox, transaction({ order: { invoiceNumber: 'A-2' } }));
    await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/${id}`);
    await portal(sandbox, 'cancel-transaction', { transaction_id: id });
    const sequences = async (query: string) =>
      (await controlPlane(sandbox, 'GET', `/ledger${query}`)).body.map(
        ({ sequence }: { sequence: number }) => sequence,
      );
    expect(await sequences('')).toEqual([1, 2, 3, 4]);
    expect(await sequences('?operation=create-transaction')).toEqual([1, 2]);
    expect(await sequences('?invoice=A-1')).toEqual([1, 3, 4]);
    expect(await sequences('?since=2&invoice=A-1')).toEqual([3, 4]);
    const { body } = await controlPlane(sandbox, 'GET', '/ledger?since=3');
    expect(body).toEqual([
      {
        sequence: 4,
        at: expect.any(String),
        wallAt: expect.any(String),
        operation: 'cancel-transaction',
        base: 'portal',
        transactionId: id,
        invoiceNumber: 'A-1',
        outcome: { status: 200, code: 200, decision: 'pass' },
        callerPort: expect.any(Number),
        committed: true,
        fault: null,
      },
    ]);
  });

  it('enters requests that are refused, with a wrong key or to no known path', async () => {
    const { testBaseUrl, url, control } = await startSandbox();
    await send('POST', testBaseUrl, transaction({ 'nf-token': 'wrong' }));
    await send('POST', testBaseUrl, '{');
    await send('GET', `${url}/nowhere`);
    expect(control.ledger().map(({ operation, outcome }) => [operation, outcome.status])).toEqual([
      ['create-transaction', 403],
      ['unknown', 400],
      ['unknown', 404],
    ]);
  });

  it('moves the clock, which dates transactions and the ledger', async () => {
    const sandbox = await startSandbox();
    const { body } = await controlPlane(sandbox, 'POST', '/clock', { advanceMs: DAY_MS });
    expect(body.offsetMs).toBe(DAY_MS);
    await controlPlane(sandbox, 'POST', '/clock', { now: '2031-05-01T12:00:00Z' });
    expect((await controlPlane(sandbox, 'GET', '/clock')).body.now).toMatch(/^2031-05-01T12:00/);
    const id = await created(sandbox);
    expect(sandbox.control.transactions(id)[0]?.createdAt).toMatch(/^2031-05-01T12:00/);
    const [entry] = sandbox.control.ledger();
    expect(entry?.at).toMatch(/^2031-05-01T12:00/);
    expect(Math.abs(Date.parse(entry?.wallAt ?? '') - Date.now())).toBeLessThan(60_000);
  });

  it('plans, shows and clears faults', async () => {
    const sandbox = await startSandbox();
    const plan = { seed: 7, faults: [{ operation: 'create-transaction', kind: '429', times: 3 }] };
    expect((await controlPlane(sandbox, 'POST', '/faults', plan)).status).toBe(200);
    expect((await send('POST', sandbox.testBaseUrl, transaction())).status).toBe(429);
    const played = [{ operation: 'create-transaction', kind: '429', count: 1 }];
    expect((await controlPlane(sandbox, 'GET', '/faults')).body).toEqual({ ...plan, played });
    expect((await controlPlane(sandbox, 'DELETE', '/faults')).body.faults).toEqual([]);
    expect((await send('POST', sandbox.testBaseUrl, transaction())).status).toBe(200);
  });

  it('switches the keys', async () => {
    const sandbox = await startSandbox();
    expect((await controlPlane(sandbox, 'POST', '/keys', { test: 'rotated' })).status).toBe(204);
    expect((await send('POST', sandbox.testBaseUrl, transaction())).status).toBe(403);
    const rotated = transaction({ 'nf-token': 'rotated' });
    expect((await send('POST', sandbox.testBaseUrl, rotated)).status).toBe(200);
    const live = transaction({ 'nf-token': LIVE_KEY });
    expect((await send('POST', sandbox.liveBaseUrl, live)).status).toBe(200);
  });

  it('sets the portal, the coverage of a transaction and the webhooks', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    const coverage = await controlPlane(sandbox, 'POST', `/transactions/${id}/coverage`, { covered: false });
    expect(coverage.body).toMatchObject([{ id, covered: false }]);
    await controlPlane(sandbox, 'PUT', '/portal', { codeType: 'string' });
    expect((await controlPlane(sandbox, 'GET', '/portal')).body).toEqual({
      codeType: 'string',
      covered: true,
      cancelWindowMs: 5 * DAY_MS,
    });
    expect((await controlPlane(sandbox, 'PUT', '/webhooks', { url: 'http://127.0.0.1:1/' })).status).toBe(
      204,
    );
    sandbox.control.decide(id, 'fail');
    expect(sandbox.control.ledger({ operation: 'webhook' })).toHaveLength(1);
  });

  it('reads the customer codes', async () => {
    const sandbox = await startSandbox();
    await portal(sandbox, 'customer-code', { customer_code: 'c-1', email: 'a@example.com' });
    const { body } = await controlPlane(sandbox, 'GET', '/customer-codes');
    expect(body).toMatchObject([{ customerCode: 'c-1', mode: 'test' }]);
  });

  it('resets everything to how it started', async () => {
    const sandbox = await startSandbox();
    await created(sandbox);
    sandbox.control.setKeys({ test: 'other' });
    sandbox.control.setClock({ advanceMs: DAY_MS });
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '403' }] });
    sandbox.control.setPortal({ covered: false });
    expect((await controlPlane(sandbox, 'POST', '/reset')).status).toBe(204);
    expect(sandbox.control.transactions()).toEqual([]);
    expect(sandbox.control.ledger()).toEqual([]);
    expect(sandbox.control.clock().offsetMs).toBe(0);
    const id = await created(sandbox);
    expect(sandbox.control.transactions(id)).toMatchObject([{ covered: true }]);
    expect(sandbox.control.ledger()).toMatchObject([{ sequence: 1 }]);
  });

  it.each([
    ['POST', '/transactions/A-1/decision', { decision: 'maybe' }, ['decision']],
    ['POST', '/transactions/A-1/coverage', {}, ['covered']],
    ['POST', '/clock', { advanceMs: 'a day' }, ['']],
    ['POST', '/keys', { test: '', production: 'x' }, ['test', '']],
    ['PUT', '/webhooks', { url: 'file:///etc/passwd', method: 'TRACE' }, ['url', 'method']],
    ['PUT', '/portal', { codeType: 'roman', cancelWindowMs: -1 }, ['codeType', 'cancelWindowMs']],
    ['GET', '/ledger?operation=none&since=-1', undefined, ['operation', 'since']],
    ['POST', '/faults', { faults: [{ operation: 'webhook', kind: '429' }] }, ['faults.0.kind']],
    ['POST', '/faults', { faults: [{ operation: 'customer-code', kind: 'lost' }] }, ['faults.0.kind']],
    ['POST', '/faults', { faults: [{ operation: 'status', kind: 'refused-in-body' }] }, ['faults.0.kind']],
    ['POST', '/faults', { faults: [{ operation: 'status', kind: 'delay' }] }, ['faults.0.delayMs']],
    [
      'POST',
      '/faults',
      { faults: [{ operation: 'status', kind: '5xx-before-commit', status: 404 }] },
      ['faults.0.status'],
    ],
    [
      'POST',
      '/faults',
      { faults: [{ operation: 'nothing', kind: 'x', probability: 2 }] },
      ['faults.0.operation', 'faults.0.kind', 'faults.0.probability'],
    ],
  ])('%s %s refuses %o and lists every fault', async (method, path, body, paths) => {
    const sandbox = await startSandbox();
    const reply = await controlPlane(sandbox, method, path, body);
    expect(reply.status).toBe(400);
    expect(reply.body.errors.map((error: { path: string }) => error.path)).toEqual(paths);
    for (const { message } of reply.body.errors) expect(message).toBeTruthy();
  });

  it('answers callers on this machine only', async ({ skip }) => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (outside === undefined) return skip('this machine has no address but loopback');
    const sandbox = await startSandbox({ host: '0.0.0.0' });
    const { port } = new URL(sandbox.url);
    expect((await send('GET', `http://127.0.0.1:${port}/_sandbox/clock`)).status).toBe(200);
    expect((await send('GET', `http://${outside}:${port}/_sandbox/clock`)).status).toBe(403);
    expect((await send('POST', `http://${outside}:${port}/_sandbox/reset`)).status).toBe(403);
    expect((await send('POST', `http://${outside}:${port}/test`, transaction())).status).toBe(200);
  });
});
