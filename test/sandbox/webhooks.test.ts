import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { stubService } from '../screening-service/stub-service.ts';
import { created, decidedAs, startSandbox } from './support.ts';

type Fault = Omit<FaultPlanInput['faults'][number], 'operation'>;

/** A sandbox with an order in review, and the merchant's receiver of its webhooks. */
async function start({
  fault,
  status = 202,
  secret = '',
}: {
  fault?: Fault;
  status?: number;
  secret?: string;
} = {}) {
  const { answerJson, close, seen: received, url: address } = await stubService();
  onTestFinished(close);
  answerJson(status, '');
  const url = `${address}/hook`;
  const { control, ...sandbox } = await startSandbox({ webhookUrl: url, webhookSecret: secret });
  if (fault) control.setFaults({ faults: [{ operation: 'webhook', ...fault }] });
  const id = await created({ control, ...sandbox }, decidedAs('review', { order: { invoiceNumber: 'A 1' } }));
  /** What was sent, once it was so much. */
  const told = async (count: number, withinMs = 5_000) => {
    await vi.waitFor(() => expect(received).toHaveLength(count), withinMs);
    return received.map(({ body }) => /"decision":(\w+)/.exec(body)?.[1]);
  };
  return { control, url, id, received, told, deliveries: () => control.ledger({ operation: 'webhook' }) };
}

describe('webhooks', () => {
  it('tell a changed decision once in the known default form, which is no JSON', async () => {
    const { control, id, received, told, deliveries } = await start();
    for (const decision of ['review', 'pass', 'pass'] as const) control.decide(id, decision);
    expect(await told(1)).toEqual(['pass']);
    const body = `{"id":https://portal.example/transactions/${id},"decision":pass,"invoiceNumber":A 1}`;
    expect(received).toMatchObject([{ method: 'POST', url: '/hook', body }]);
    expect(Object.keys(received[0]?.headers ?? {}).sort()).toEqual(['connection', 'content-length', 'host']);
    const outcome = { status: 202, decision: 'pass' };
    const entry = { committed: true, transactionId: id, outcome, fault: null };
    await vi.waitFor(() => expect(deliveries()).toMatchObject([entry]));
  });

  it('carry the secret as a header, and can be turned off', async () => {
    const { control, id, received, told } = await start({ secret: 's3cret' });
    control.setWebhooks({ enabled: false });
    control.decide(id, 'pass');
    control.setWebhooks({ enabled: true });
    control.decide(id, 'fail');
    expect(await told(1)).toEqual(['fail']);
    expect(received[0]?.headers['x-webhook-secret']).toBe('s3cret');
  });

  it('take another template, method, headers and address', async () => {
    const { control, id, received, told, url } = await start();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    control.setWebhooks({ method: 'PUT', headers, template: 'd=%status%&i=%invoice_number%' });
    control.decide(id, 'pass');
    await told(1);
    control.setWebhooks({ method: 'GET', url: `${url}?i=%invoice_number%&d=%status%` });
    control.decide(id, 'fail');
    await told(2);
    expect(received).toMatchObject([
      { method: 'PUT', headers, body: 'd=pass&i=A 1' },
      { method: 'GET', url: '/hook?i=A%201&d=fail', body: '' },
    ]);
  });

  it('are entered in the ledger as not taken when the receiver refuses or is not there', async () => {
    const { control, id, deliveries } = await start({ status: 503 });
    control.decide(id, 'pass');
    const refused = { outcome: { status: 503 }, committed: false };
    await vi.waitFor(() => expect(deliveries()).toMatchObject([refused]));
    control.setWebhooks({ url: 'http://127.0.0.1:1/' });
    control.decide(id, 'fail');
    const missed = { outcome: { status: null }, committed: false };
    await vi.waitFor(() => expect(deliveries()).toMatchObject([refused, missed]));
  });

  it.each<[fault: Fault, decisions: ('pass' | 'fail')[], told: string[]]>([
    [{ kind: 'lost', times: 1 }, ['pass', 'fail'], ['fail']],
    [{ kind: 'doubled' }, ['pass'], ['pass', 'pass']],
    [{ kind: 'late', delayMs: 80 }, ['pass'], ['pass']],
    [{ kind: 'reordered', times: 1 }, ['pass', 'fail'], ['fail', 'pass']],
    // Without a next one it is sent after 2 s.
    [{ kind: 'reordered' }, ['pass'], ['pass']],
    [{ kind: 'forged' }, ['fail'], ['pass', 'pass', 'fail']],
  ])('with the fault %o tell of %j as %j', async (fault, decisions, told) => {
    const hook = await start({ fault });
    const began = performance.now();
    for (const decision of decisions) hook.control.decide(hook.id, decision);
    expect(await hook.told(told.length, decisions.length === 1 ? 5_000 : 1_500)).toEqual(told);
    expect(performance.now() - began).toBeGreaterThanOrEqual((fault.delayMs ?? 1) - 1);
    // The second forged one is about an unknown transaction.
    const known = told.map((_, index) => fault.kind !== 'forged' || index !== 1);
    expect(hook.received.map(({ body }) => body.includes(hook.id))).toEqual(known);
    expect(hook.control.faults().played).toEqual([{ operation: 'webhook', kind: fault.kind, count: 1 }]);
    expect(hook.deliveries().some((entry) => entry.fault === fault.kind)).toBe(true);
  });
});
