/** The sandbox answers as the table of the interface says. */
import { expect, it } from 'vitest';
import { INTERFACE, type Row } from './interface-table.ts';
import { created, DAY_MS, LIVE_KEY, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const KEYS = { test: TEST_KEY, live: LIVE_KEY, wrong: 'wrong' };

/** The row about a transaction of this id. */
function about(id: string, row: Row): Row {
  const named = (value: unknown) => (value === 'ID' ? id : value);
  const fields = (of: object) =>
    Object.fromEntries(Object.entries(of).map(([name, one]) => [name, named(one)]));
  const input = typeof row.input === 'string' ? String(named(row.input)) : fields(row.input);
  const { chargeback, ...reply } = fields(Object(row.reply));
  return { ...row, input, reply: chargeback ? { ...reply, chargeback: fields(Object(chargeback)) } : reply };
}

it.each(INTERFACE.map((row) => [row.operation, row.says, row] as const))(
  '%s: %s',
  async (_on, _says, row) => {
    const sandbox = await startSandbox();
    const { decision = 'pass', days = 0, covered = true } = row.given ?? {};
    sandbox.control.setPortal({ covered });
    const id = await created(sandbox, transaction({ customer: { email: `${decision}@example.com` } }));
    sandbox.control.setClock({ advanceMs: days * DAY_MS });

    const { operation, input, status, reply, key = 'test' } = about(id, row);
    const [method = '', path = ''] = operation.split(' ');
    const base = key === 'live' ? sandbox.liveBaseUrl : sandbox.testBaseUrl;
    const call = () => {
      if (typeof input === 'string')
        return send(method, `${base}${path}/${KEYS[key]}/${encodeURIComponent(input)}`);
      if (/code|fraud|cancel|chargeback/.test(path))
        return portal(sandbox, path.slice(1), { nf_token: KEYS[key], ...input });
      return send(method, `${base}${path}`, key === 'live' ? { ...input, 'nf-token': LIVE_KEY } : input);
    };
    const answer = await call();
    expect([answer.status, answer.body]).toEqual([status, reply]);
    // A random id may contain the year by chance.
    expect(answer.text.replaceAll(UUID, 'ID')).not.toMatch(/4111111111111111|4539578763621486|2099|sandbox-/);
  },
);

it('of transactions with one invoice number, only the first is checked', async () => {
  const sandbox = await startSandbox();
  const numbered = (invoiceNumber: string) => created(sandbox, transaction({ order: { invoiceNumber } }));
  const odd = 'Ä 1/2?%';
  const [first] = [await numbered('#A-1'), await numbered('A-1')];
  for (const [invoiceNumber, id] of [
    ['A-1', first],
    [odd, await numbered(odd)],
  ] as const) {
    const url = `${sandbox.testBaseUrl}/status_by_invoice/${TEST_KEY}/${encodeURIComponent(invoiceNumber)}`;
    expect((await send('GET', url)).body).toEqual({ id, decision: 'pass' });
  }
});
