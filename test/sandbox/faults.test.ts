import { describe, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../src/sandbox/create-sandbox.ts';
import { type FaultKind, FaultPlan, type FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { created, type Reply, send, startSandbox, TEST_KEY, transaction } from './support.ts';

type Fault = FaultPlanInput['faults'][number];

async function faulty(kind: FaultKind, changes: Partial<Fault> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox();
  sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind, ...changes }] });
  return sandbox;
}

function create(sandbox: Sandbox, signal?: AbortSignal): Promise<Reply> {
  return send('POST', `${sandbox.testBaseUrl}/transaction`, transaction(), signal && { signal });
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

/** Checks what the ledger says about the only request. */
function expectEntry({ control }: Sandbox, committed: boolean, status: number | null): void {
  const fault = control.faults().played[0]?.kind;
  expect(control.ledger()).toMatchObject([{ fault, committed, invoiceNumber: 'A-1', outcome: { status } }]);
  expect(control.transactions()).toHaveLength(committed ? 1 : 0);
}

// How a caller sees them is tested with the activities.
describe('a fault of a request', () => {
  it.each<[kind: FaultKind, committed: boolean, status: number | null, changes?: Partial<Fault>]>([
    ['5xx-before-commit', false, 503],
    ['5xx-after-commit', true, 502],
    ['5xx-after-commit', true, 504, { status: 504 }],
    ['403', false, 403],
    ['429', false, 429],
    ['malformed-body', true, 200],
    ['unknown-decision', true, 200],
    ['reply-without-id', true, 200],
    ['truncated-reply', true, 200],
    ['reset-before-commit', false, null],
    ['reset-after-commit', true, null],
  ])('%s is in the ledger; committed: %s, status: %s', async (kind, committed, status, changes) => {
    const sandbox = await faulty(kind, changes);
    const reply = await create(sandbox).catch(() => undefined);
    if (reply !== undefined) expect(reply.headers['content-type']).toMatch('application/json');
    expectEntry(sandbox, committed, status);
  });

  it.each([
    ['hang-before-commit', false],
    ['hang-after-commit', true],
  ] as const)('%s never answers; committed: %s', async (kind, committed) => {
    const sandbox = await faulty(kind);
    await abandoned(sandbox, (signal) => create(sandbox, signal));
    expectEntry(sandbox, committed, null);
  });

  it('delay answers late, and commits also for a caller that gave up', async () => {
    const sandbox = await faulty('delay', { delayMs: 60 });
    const began = performance.now();
    expect((await create(sandbox)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThanOrEqual(59);
    await abandoned(sandbox, (signal) => create(sandbox, signal));
    await vi.waitFor(() => expect(sandbox.control.transactions()).toHaveLength(2));
  });
});

it('a plan plays a fault so many times, for one operation and one invoice number', async () => {
  const sandbox = await faulty('5xx-before-commit', { times: 2, match: { invoice: '#A-1' } });
  await created(sandbox, transaction({ order: { invoiceNumber: 'A-2' } }));
  const status = await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/A-1`);
  const replies = [await create(sandbox), await create(sandbox), await create(sandbox)];
  expect([status, ...replies].map((reply) => reply.status)).toEqual([404, 503, 503, 200]);
});

const invoices = Array.from({ length: 2_000 }, (_, index) => `order-${index}`);

/** The orders that a plan with this probability picks. */
function picked(seed: number, probability: number, list: readonly string[] = invoices): string[] {
  const plan = new FaultPlan();
  plan.set({ seed, faults: [{ operation: 'create-transaction', kind: '429', probability }] });
  return list.filter((invoiceNumber) =>
    plan.pick('create-transaction', { transactionId: null, invoiceNumber }),
  );
}

it('each order has the same fate with the same seed, in whatever order requests arrive', () => {
  expect(picked(1, 0.5).toSorted()).toEqual(picked(1, 0.5, invoices.toReversed()).toSorted());
  expect(picked(1, 0.5)).not.toEqual(picked(2, 0.5));
});

it.each([0, 0.1, 0.5, 0.9, 1])('the draw keeps to the probability %d', (probability) => {
  const share = picked(7, probability).length / invoices.length;
  expect(Math.abs(share - probability)).toBeLessThan(probability % 1 === 0 ? 1e-9 : 0.05);
});
