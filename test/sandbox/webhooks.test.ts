import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { FaultKind, FaultPlanInput } from '../../src/sandbox/fault-plan.ts';
import { closeAfterTest, created, decidedAs, startSandbox } from './support.ts';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A merchant's receiver on a free port, and what it was sent. */
async function startReceiver(status = 202) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTest(() => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

async function startBoth(fault?: Omit<FaultPlanInput['faults'][number], 'operation'>) {
  const receiver = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl: receiver.url });
  if (fault) sandbox.control.setFaults({ faults: [{ operation: 'webhook', ...fault }] });
  const deliveries = () => sandbox.control.ledger({ operation: 'webhook' });
  return { sandbox, deliveries, ...receiver };
}

const decisionIn = ({ body }: Received) => /"decision":(\w+)/.exec(body)?.[1];

describe('webhooks', () => {
  it('tell a changed decision in the known default form, which is no JSON', async () => {
    const { sandbox, received, deliveries } = await startBoth();
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'pass');
    await vi.waitFor(() => expect(deliveries()).toMatchObject([{ outcome: { status: 202 } }]));
    expect(received).toMatchObject([
      {
        method: 'POST',
        url: '/hook',
        body: `{"id":https://portal.example/transactions/${id},"decision":pass,"invoiceNumber":A-1}`,
      },
    ]);
    expect(Object.keys(received[0]?.headers ?? {}).sort()).toEqual(['connection', 'content-length', 'host']);
    expect(deliveries()).toMatchObject([
      {
        committed: true,
        transactionId: id,
        invoiceNumber: 'A-1',
        outcome: { decision: 'pass' },
        fault: null,
      },
    ]);
  });

  it('tell nothing at the create, nor when the decision stays', async () => {
    const { sandbox, received, deliveries } = await startBoth();
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'review');
    sandbox.control.decide(id, 'fail');
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(deliveries()).toMatchObject([{ outcome: { status: 202 } }]));
    expect(received.map(decisionIn)).toEqual(['fail']);
  });

  it('carry the secret as a header when there is one', async () => {
    const receiver = await startReceiver();
    const sandbox = await startSandbox({ webhookUrl: receiver.url, webhookSecret: 's3cret' });
    sandbox.control.decide(await created(sandbox, decidedAs('review')), 'pass');
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]?.headers['x-webhook-secret']).toBe('s3cret');
  });

  it('take another template, method, headers and address', async () => {
    const { sandbox, received, url } = await startBoth();
    const id = await created(sandbox, decidedAs('review', { order: { invoiceNumber: 'A 1' } }));
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    sandbox.control.setWebhooks({ method: 'PUT', headers: form, template: 'd=%status%&i=%invoice_number%' });
    sandbox.control.decide(id, 'pass');
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(received[0]).toMatchObject({ method: 'PUT', headers: form, body: 'd=pass&i=A 1' });
    sandbox.control.setWebhooks({ method: 'GET', url: `${url}?i=%invoice_number%&d=%status%` });
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received[1]).toMatchObject({ method: 'GET', url: '/hook?i=A%201&d=fail', body: '' });
  });

  it('can be turned off', async () => {
    const { sandbox, received, deliveries } = await startBoth();
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.setWebhooks({ enabled: false });
    sandbox.control.decide(id, 'pass');
    sandbox.control.setWebhooks({ enabled: true });
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(deliveries()).toMatchObject([{ outcome: { status: 202 } }]));
    expect(received.map(decisionIn)).toEqual(['fail']);
  });

  it('are entered in the ledger as not taken when the receiver refuses or is not there', async () => {
    const refusing = await startReceiver(503);
    const sandbox = await startSandbox({ webhookUrl: refusing.url });
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'pass');
    const statuses = () =>
      sandbox.control
        .ledger({ operation: 'webhook' })
        .map(({ outcome, committed }) => [outcome.status, committed]);
    await vi.waitFor(() => expect(statuses()).toEqual([[503, false]]));
    sandbox.control.setWebhooks({ url: 'http://127.0.0.1:1/' });
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() =>
      expect(statuses()).toEqual([
        [503, false],
        [null, false],
      ]),
    );
  });
});

describe('faults of webhooks', () => {
  it('lost: nothing is sent', async () => {
    const { sandbox, received, deliveries } = await startBoth({ kind: 'lost', times: 1 });
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'pass');
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(received.map(decisionIn)).toEqual(['fail']);
    expect(deliveries().find(({ fault }) => fault === 'lost')).toMatchObject({
      committed: false,
      outcome: { status: null, decision: 'pass' },
    });
  });

  it('doubled: it is sent twice', async () => {
    const { sandbox, received, deliveries } = await startBoth({ kind: 'doubled' });
    sandbox.control.decide(await created(sandbox, decidedAs('review')), 'pass');
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received[0]?.body).toBe(received[1]?.body);
    await vi.waitFor(() => expect(deliveries()).toMatchObject([{ committed: true }, { committed: true }]));
  });

  it('late: it is sent after its delay', async () => {
    const { sandbox, received } = await startBoth({ kind: 'late', delayMs: 80 });
    const id = await created(sandbox, decidedAs('review'));
    const began = performance.now();
    sandbox.control.decide(id, 'pass');
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(performance.now() - began).toBeGreaterThanOrEqual(79);
  });

  it('reordered: the next one overtakes it', async () => {
    const { sandbox, received } = await startBoth({ kind: 'reordered', times: 1 });
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'pass');
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(received).toHaveLength(2));
    expect(received.map(decisionIn)).toEqual(['fail', 'pass']);
  });

  it('reordered: with no next one, it is sent all the same', async () => {
    const { sandbox, received } = await startBoth({ kind: 'reordered' });
    sandbox.control.decide(await created(sandbox, decidedAs('review')), 'pass');
    await vi.waitFor(() => expect(received).toHaveLength(1), 5_000);
  });

  it('forged: a wrong decision and an unknown transaction come with it', async () => {
    const { sandbox, received, deliveries } = await startBoth({ kind: 'forged' });
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'fail');
    await vi.waitFor(() => expect(deliveries().filter(({ committed }) => committed)).toHaveLength(3));
    expect(received.map((one) => [one.body.includes(id), decisionIn(one)])).toEqual([
      [true, 'pass'],
      [false, 'pass'],
      [true, 'fail'],
    ]);
    expect(sandbox.control.transactions(id)[0]?.decision).toBe('fail');
  });

  it.each<FaultKind>(['lost', 'doubled', 'late', 'reordered', 'forged'])('%s is counted', async (kind) => {
    const { sandbox, deliveries } = await startBoth({ kind, ...(kind === 'late' ? { delayMs: 1 } : {}) });
    sandbox.control.decide(await created(sandbox, decidedAs('review')), 'pass');
    expect(sandbox.control.faults().played).toEqual([{ operation: 'webhook', kind, count: 1 }]);
    if (kind !== 'reordered') await vi.waitFor(() => expect(deliveries()[0]?.fault).toBe(kind));
  });
});
