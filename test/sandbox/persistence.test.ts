import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import {
  closeAfterTest,
  created,
  DAY_MS,
  decidedAs,
  portal,
  send,
  startSandbox,
  TEST_KEY,
  transaction,
} from './support.ts';

async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-'));
  closeAfterTest(() => rm(folder, { recursive: true }));
  return folder;
}

describe('the state file', () => {
  it('lets a restart go on with the same transactions, clock and settings', async () => {
    const dataFile = join(await dataFolder(), 'new', 'sandbox.json');
    const before = await startSandbox({ dataFile });
    const first = await created(before, decidedAs('review'));
    await created(before);
    await portal(before, 'cancel-transaction', { transaction_id: first });
    await portal(before, 'customer-code', { customer_code: 'c', email: 'a@example.com' });
    before.control.setClock({ advanceMs: 3 * DAY_MS });
    before.control.setPortal({ codeType: 'string' });
    const { control } = before;
    const [transactions, codes] = [control.transactions(), control.customerCodes()];
    await before.close();

    const after = await startSandbox({ dataFile });
    expect(after.control.transactions()).toEqual(transactions);
    expect(after.control.customerCodes()).toEqual(codes);
    expect(after.control.clock().offsetMs).toBe(3 * DAY_MS);
    const reply = await send('GET', `${after.testBaseUrl}/status_by_invoice/${TEST_KEY}/A-1`);
    expect(reply.body).toEqual({ id: first, decision: 'review' });
    expect((await portal(after, 'cancel-transaction', { transaction_id: first })).body.code).toBe('200');
  });

  it('is written while the sandbox runs, and leaves nothing beside it', async () => {
    const folder = await dataFolder();
    const dataFile = join(folder, 'sandbox.json');
    const sandbox = await startSandbox({ dataFile });
    const ids = await Promise.all(Array.from({ length: 20 }, () => created(sandbox)));
    await vi.waitFor(async () => {
      const saved = await readFile(dataFile, 'utf8');
      for (const id of ids) expect(saved).toContain(id);
    }, 5_000);
    await sandbox.close();
    expect(await readdir(folder)).toEqual(['sandbox.json']);
  });

  it('holds neither keys nor card data', async () => {
    const dataFile = join(await dataFolder(), 'sandbox.json');
    const sandbox = await startSandbox({ dataFile, webhookSecret: 'hook-secret' });
    const creditCard = { cardNumber: '4111111111111111', expirationDate: '11/2097', cardCode: '9876' };
    const id = await created(sandbox, transaction({ payment: { creditCard } }));
    await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/${id}`);
    await portal(sandbox, 'report-fraud', { transaction_id: id });
    await sandbox.close();
    const saved = await readFile(dataFile, 'utf8');
    expect(saved).toContain(id);
    expect(saved).toContain('"last4":"1111"');
    for (const secret of [TEST_KEY, 'hook-secret', '41111', '2097', '9876'])
      expect(saved).not.toContain(secret);
  });

  it.each(['{"state":', '{"clockOffsetMs":0}'])('that reads %s stops the start by its name', async (text) => {
    const dataFile = join(await dataFolder(), 'sandbox.json');
    await writeFile(dataFile, text);
    await expect(createSandbox({ port: 0, dataFile })).rejects.toThrow(dataFile);
    expect(await readFile(dataFile, 'utf8')).toBe(text);
  });
});
