import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { WRITE_EVERY_MS } from '../../src/sandbox/state.ts';
import { scratchFolder } from '../dev/fake-commands.ts';
import { created, DAY_MS, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

describe('the state file', () => {
  it('lets a restart go on with the same transactions, clock and settings', async () => {
    const dataFile = join(await scratchFolder(), 'new', 'sandbox.json');
    const before = await startSandbox({ dataFile });
    await created(before);
    await created(before);
    await portal(before, 'customer-code', { customer_code: 'c', email: 'a@example.com' });
    before.control.setClock({ advanceMs: 3 * DAY_MS });
    before.control.setPortal({ codeType: 'string' });
    await before.close();

    const after = await startSandbox({ dataFile });
    const kept = ({ control }: typeof before) => [
      ...[control.transactions(), control.customerCodes(), control.portal()],
      control.clock().offsetMs,
    ];
    expect(kept(after)).toEqual(kept(before));
  });

  it('is written while the sandbox runs, without keys and card data, and leaves nothing beside it', async () => {
    const folder = await scratchFolder();
    const dataFile = join(folder, 'sandbox.json');
    const sandbox = await startSandbox({ dataFile, webhookSecret: 'hook-secret' });
    const creditCard = { cardNumber: '4111111111111111', expirationDate: '11/2097', cardCode: '9876' };
    const body = transaction({ payment: { creditCard } });
    const ids = await Promise.all(Array.from({ length: 20 }, () => created(sandbox, body)));
    await vi.waitFor(async () => {
      const saved = await readFile(dataFile, 'utf8');
      for (const id of [...ids, '"last4":"1111"']) expect(saved).toContain(id);
    }, 5_000);
    await sandbox.close();
    expect(await readdir(folder)).toEqual(['sandbox.json']);
    // Random ids and times may have the same digits.
    const saved = ids.reduce((text, id) => text.replace(id, ''), await readFile(dataFile, 'utf8'));
    const withoutTimes = saved.replaceAll(/"\d{4}-[\dT:.-]*Z"/g, '');
    expect(withoutTimes).not.toMatch(/sandbox-test-key|hook-secret|41111|2097|9876/);
  });

  it('is not written again for a request that changes nothing', async () => {
    const folder = await scratchFolder();
    const sandbox = await startSandbox({ dataFile: join(folder, 'sandbox.json') });
    await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/A-1`);
    await send('POST', `${sandbox.testBaseUrl}/transaction`, transaction({ amount: '' }));
    await sleep(2 * WRITE_EVERY_MS);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is not written after the sandbox is closed', async () => {
    const folder = await scratchFolder();
    const dataFile = join(folder, 'sandbox.json');
    const sandbox = await startSandbox({ dataFile });
    await sandbox.close();
    await rm(dataFile);
    sandbox.control.setClock({ advanceMs: DAY_MS });
    await sleep(2 * WRITE_EVERY_MS);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that is none stops the start by its name', async () => {
    const dataFile = join(await scratchFolder(), 'sandbox.json');
    await writeFile(dataFile, '{"state":{}}');
    await expect(createSandbox({ port: 0, dataFile })).rejects.toThrow(dataFile);
    const folder = await scratchFolder();
    await expect(createSandbox({ port: 0, dataFile: folder })).rejects.toThrow(folder);
  });
});
