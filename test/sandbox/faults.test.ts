import { describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { FAULT_KINDS, type FaultKind, type FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { created, portal, type Reply, send, startSandbox, TEST_KEY, transaction } from './support.ts';

type Fault = FaultPlanInput['faults'][number];

async function faulty(kind: FaultKind, changes: Partial<Fault> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox();
  sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind, ...changes }] });
  return sandbox;
}

function create(sandbox: Sandbox, options: { signal?: AbortSignal } = {}): Promise<Reply> {
  return send('POST', `${sandbox.testBaseUrl}/transaction`, transaction(), options);
}

/** A request whose caller gives up as soon as the sandbox has it. */
async function abandoned(sandbox: Sandbox, start: (signal: AbortSignal) => Promise<Reply>): Promise<void> {
  const before = sandbox.control.ledger().length;
  const caller = new AbortController();
  const reply = expect(start(caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await vi.waitFor(() => expect(sandbox.control.ledger().length).toBeGreaterThan(before));
  caller.abort();
  await reply;
}

/** What the caller can't see: whether the transaction was made, and what the ledger says about it. */
function truth({ control }: Sandbox) {
  const [entry, ...more] = control.ledger();
  expect(more).toEqual([]);
  expect(entry?.fault).toBe(control.faults().played[0]?.kind);
  expect(entry?.committed).toBe(control.transactions().length === 1);
  expect(entry?.invoiceNumber).toBe('A-1');
  return { committed: entry?.committed, status: entry?.outcome.status };
}

describe('faults of a request', () => {
  it('delay: the answer comes late, and is right', async () => {
    const sandbox = await faulty('delay', { delayMs: 60 });
    const began = performance.now();
    expect((await create(sandbox)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThanOrEqual(59);
    expect(truth(sandbox)).toEqual({ committed: true, status: 200 });
  });

  it('delay: a caller that gave up has a transaction all the same', async () => {
    const sandbox = await faulty('delay', { delayMs: 200 });
    await abandoned(sandbox, (signal) => create(sandbox, { signal }));
    await vi.waitFor(() => expect(truth(sandbox).committed).toBe(true));
  });

  it.each([
    ['5xx-before-commit', { status: 500 }, 500, false],
    ['5xx-before-commit', {}, 503, false],
    ['5xx-after-commit', {}, 502, true],
    ['5xx-after-commit', { status: 504 }, 504, true],
    ['403', {}, 403, false],
  ] as const)('%s with %o answers %i; committed: %s', async (kind, changes, status, committed) => {
    const sandbox = await faulty(kind, changes);
    const reply = await create(sandbox);
    expect(reply.status).toBe(status);
    expect(reply.body).toEqual({ Errors: [expect.any(String)] });
    expect(truth(sandbox)).toEqual({ committed, status });
  });

  it('429 says when to come again, and commits nothing', async () => {
    const sandbox = await faulty('429', { retryAfter: 7 });
    const reply = await create(sandbox);
    expect([reply.status, reply.headers['retry-after']]).toEqual([429, '7']);
    expect(truth(sandbox)).toEqual({ committed: false, status: 429 });
  });

  it('malformed-body answers 200 with JSON that is none, after the commit', async () => {
    const sandbox = await faulty('malformed-body');
    const reply = await create(sandbox);
    expect([reply.status, reply.body]).toEqual([200, undefined]);
    expect(reply.headers['content-type']).toMatch('application/json');
    expect(truth(sandbox)).toEqual({ committed: true, status: 200 });
  });

  it('truncated-reply promises more than it sends, after the commit', async () => {
    const sandbox = await faulty('truncated-reply');
    await expect(create(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET', message: 'aborted' });
    expect(truth(sandbox)).toEqual({ committed: true, status: 200 });
  });

  it.each([
    ['reset-before-commit', false],
    ['reset-after-commit', true],
  ] as const)('%s breaks the connection; committed: %s', async (kind, committed) => {
    const sandbox = await faulty(kind);
    await expect(create(sandbox)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(truth(sandbox)).toEqual({ committed, status: null });
  });

  it.each([
    ['hang-before-commit', false],
    ['hang-after-commit', true],
  ] as const)('%s never answers; committed: %s', async (kind, committed) => {
    const sandbox = await faulty(kind);
    await abandoned(sandbox, (signal) => create(sandbox, { signal }));
    expect(truth(sandbox)).toEqual({ committed, status: null });
  });

  it('unknown-decision answers a word that the document does not know', async () => {
    const sandbox = await faulty('unknown-decision');
    const { body } = await create(sandbox);
    expect(['pass', 'fail', 'review', 'fraudulent', 'error']).not.toContain(body.decision);
    expect(sandbox.control.transactions(body.id)).toMatchObject([{ decision: 'pass' }]);
    expect(truth(sandbox)).toEqual({ committed: true, status: 200 });
  });

  it('reply-without-id leaves the id out', async () => {
    const sandbox = await faulty('reply-without-id');
    expect((await create(sandbox)).body).toEqual({ decision: 'pass' });
    expect(truth(sandbox)).toEqual({ committed: true, status: 200 });
  });

  it('refused-in-body answers 200 with another code, and does nothing', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    const fault = { operation: 'cancel-transaction', kind: 'refused-in-body' } as const;
    for (const [status, code] of [
      [undefined, 403],
      [500, 500],
    ]) {
      sandbox.control.setFaults({ faults: [{ ...fault, status }] });
      const reply = await portal(sandbox, 'cancel-transaction', { transaction_id: id });
      expect([reply.status, reply.body.code]).toEqual([200, code]);
    }
    expect(sandbox.control.transactions(id)[0]?.canceledAt).toBeNull();
    expect(sandbox.control.ledger({ operation: 'cancel-transaction' })[1]).toMatchObject({
      committed: false,
      outcome: { status: 200, code: 500 },
    });
  });

  it.each(FAULT_KINDS.slice(1, 11))('%s can be played for a status request and a cancel', async (kind) => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    sandbox.control.setFaults({
      faults: [
        { operation: 'status-by-url', kind, times: 1 },
        { operation: 'cancel-transaction', kind, times: 1 },
      ],
    });
    const statusUrl = `${sandbox.testBaseUrl}/status_by_url/${TEST_KEY}/${id}`;
    const status = (signal?: AbortSignal) => send('GET', statusUrl, undefined, signal ? { signal } : {});
    const cancelUrl = `${sandbox.portalBaseUrl}/cancel-transaction`;
    const body = { nf_token: TEST_KEY, transaction_id: id };
    const cancel = (signal?: AbortSignal) => send('POST', cancelUrl, body, signal ? { signal } : {});
    if (kind.startsWith('hang')) {
      await abandoned(sandbox, status);
      await abandoned(sandbox, cancel);
    } else {
      const replies = await Promise.allSettled([status(), cancel()]);
      const understood = replies.map((reply) => reply.status === 'fulfilled' && reply.value.body);
      expect(understood).not.toContainEqual(expect.objectContaining({ decision: expect.anything() }));
      expect(understood).not.toContainEqual(expect.objectContaining({ code: expect.anything() }));
    }
    const [entry] = sandbox.control.ledger({ operation: 'cancel-transaction' });
    expect(entry?.committed).toBe(sandbox.control.transactions(id)[0]?.canceledAt !== null);
    expect(entry?.committed).toBe(!kind.endsWith('before-commit') && kind !== '429' && kind !== '403');
    expect(sandbox.control.faults().played).toHaveLength(2);
    expect((await status()).body.decision).toBe('pass');
  });

  it('an after-commit fault on a refused request commits nothing', async () => {
    const sandbox = await faulty('reset-after-commit');
    const body = transaction({ billTo: undefined });
    await expect(send('POST', sandbox.testBaseUrl, body)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(truth(sandbox).committed).toBe(false);
  });
});

describe('a plan', () => {
  it('plays a fault so many times', async () => {
    const sandbox = await faulty('5xx-before-commit', { times: 2 });
    const replies = [await create(sandbox), await create(sandbox), await create(sandbox)];
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 200]);
  });

  it('plays a fault for one operation and one invoice number', async () => {
    const sandbox = await faulty('5xx-before-commit', { match: { invoice: '#A-2' } });
    expect((await create(sandbox)).status).toBe(200);
    const other = transaction({ order: { invoiceNumber: 'A-2' } });
    expect((await send('POST', sandbox.testBaseUrl, other)).status).toBe(503);
    const status = await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/A-1`);
    expect(status.status).toBe(200);
  });

  it('finds the invoice number of a request that names the transaction', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    const match = { invoice: 'A-1' };
    sandbox.control.setFaults({
      faults: [
        { operation: 'status', kind: '429', match },
        { operation: 'report-fraud', kind: '429', match },
        { operation: 'gateway-response', kind: '429', match },
      ],
    });
    const replies = [
      await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/${id}`),
      await portal(sandbox, 'report-fraud', { transaction_id: id }),
      await send('POST', `${sandbox.testBaseUrl}/gateway_response`, { 'nf-id': id }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([429, 429, 429]);
  });

  it('ends when it is cleared, and keeps the counts until the reset', async () => {
    const sandbox = await faulty('429');
    await create(sandbox);
    sandbox.control.clearFaults();
    expect((await create(sandbox)).status).toBe(200);
    const counts = [{ operation: 'create-transaction', kind: '429', count: 1 }];
    expect(sandbox.control.faults()).toMatchObject({ faults: [], played: counts });
    sandbox.control.reset();
    expect(sandbox.control.faults().played).toEqual([]);
  });

  it('closes at once while requests hang and are delayed, and commits none of them', async () => {
    const sandbox = await startSandbox();
    sandbox.control.setFaults({
      faults: [
        { operation: 'create-transaction', kind: 'hang-before-commit', times: 1 },
        { operation: 'create-transaction', kind: 'delay', delayMs: 500 },
      ],
    });
    const waiting = [create(sandbox), create(sandbox)].map((reply) => expect(reply).rejects.toThrow());
    await vi.waitFor(() => expect(sandbox.control.ledger().map(({ fault }) => fault)).not.toContain(null));
    await vi.waitFor(() => expect(sandbox.control.ledger()).toHaveLength(2));
    await sandbox.close();
    await Promise.all(waiting);
    // Set after the delay and as long: when it is over, the delayed request had its time.
    await new Promise((over) => setTimeout(over, 500));
    expect(sandbox.control.transactions()).toEqual([]);
    expect(sandbox.control.ledger()).toHaveLength(2);
  });
});
