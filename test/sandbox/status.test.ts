import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { created, decidedAs, LIVE_KEY, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const NOT_FOUND = { Errors: ['Transaction Not Found'] };

describe('the status operations', () => {
  it('find a transaction by id, by invoice number, and by either', async () => {
    const { testBaseUrl, ...sandbox } = await startSandbox();
    const id = await created({ testBaseUrl, ...sandbox }, decidedAs('review'));
    for (const path of [
      `status/${TEST_KEY}/${id}`,
      `status/${TEST_KEY}/A-1`,
      `status_by_url/${TEST_KEY}/${id}`,
      `status_by_invoice/${TEST_KEY}/A-1`,
    ]) {
      const reply = await send('GET', `${testBaseUrl}/${path}`);
      expect([reply.status, reply.body]).toEqual([200, { id, decision: 'review' }]);
    }
  });

  it('carry a message for fail, as create-transaction does', async () => {
    const sandbox = await startSandbox();
    const reply = await send('POST', sandbox.testBaseUrl, decidedAs('fail'));
    const status = await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/${reply.body.id}`);
    expect(status.body).toEqual(reply.body);
    expect(status.body.message).toBeTruthy();
  });

  it('answer 404 for no such transaction', async () => {
    const { testBaseUrl } = await startSandbox();
    for (const path of ['status', 'status_by_url', 'status_by_invoice']) {
      const reply = await send('GET', `${testBaseUrl}/${path}/${TEST_KEY}/${randomUUID()}`);
      expect([reply.status, reply.body]).toEqual([404, NOT_FOUND]);
    }
  });

  it('answer 403 for a wrong key before anything else', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    for (const path of ['status', 'status_by_url', 'status_by_invoice']) {
      for (const key of ['wrong', LIVE_KEY]) {
        const reply = await send('GET', `${sandbox.testBaseUrl}/${path}/${key}/${id}`);
        expect([reply.status, reply.body]).toEqual([403, { Errors: ['Not Authorized'] }]);
      }
    }
  });

  it('keep the two modes apart', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    for (const path of [
      `status/${LIVE_KEY}/${id}`,
      `status/${LIVE_KEY}/A-1`,
      `status_by_url/${LIVE_KEY}/${id}`,
      `status_by_invoice/${LIVE_KEY}/A-1`,
    ]) {
      expect((await send('GET', `${sandbox.liveBaseUrl}/${path}`)).status).toBe(404);
    }
  });

  it('see only the first transaction of an invoice number', async () => {
    const sandbox = await startSandbox();
    const first = await created(sandbox, decidedAs('fail'));
    await created(sandbox, decidedAs('pass'));
    for (const path of ['status', 'status_by_invoice']) {
      const reply = await send('GET', `${sandbox.testBaseUrl}/${path}/${TEST_KEY}/A-1`);
      expect(reply.body.id).toBe(first);
    }
  });

  it('find an invoice number without its #, and not with it', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox, transaction({ order: { invoiceNumber: '#1001' } }));
    const status = (invoice: string) =>
      send('GET', `${sandbox.testBaseUrl}/status_by_invoice/${TEST_KEY}/${encodeURIComponent(invoice)}`);
    expect((await status('1001')).body.id).toBe(id);
    expect((await status('#1001')).status).toBe(404);
  });

  it('find invoice numbers with characters that paths must encode', async () => {
    const sandbox = await startSandbox();
    const invoiceNumber = `Ä 1/2?%${'x'.repeat(50)}`;
    const id = await created(sandbox, transaction({ order: { invoiceNumber } }));
    const path = `status_by_invoice/${TEST_KEY}/${encodeURIComponent(invoiceNumber)}`;
    expect((await send('GET', `${sandbox.testBaseUrl}/${path}`)).body.id).toBe(id);
  });

  it('read a decision that an analyst changed', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox, decidedAs('review'));
    sandbox.control.decide(id, 'fraudulent');
    const reply = await send('GET', `${sandbox.testBaseUrl}/status_by_url/${TEST_KEY}/${id}`);
    expect(reply.body).toEqual({ id, decision: 'fraudulent' });
  });
});
