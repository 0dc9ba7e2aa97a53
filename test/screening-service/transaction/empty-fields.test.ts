/** The table of `docs/calling.md` that says what a shop sends for a field it has no value for: product and sandbox take each of its values. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readTransactionRequest } from '../../../src/sandbox/transaction-request.ts';
import { parseTransaction } from '../../../src/screening-service/index.ts';
import { anAddress, aTransaction } from '../../fixtures/transactions.ts';

const NOW = new Date('2026-06-15');
const RULES = { workflow: 'pre-acceptance', mode: 'test', now: NOW } as const;

/** Of these rows the shop must find a value. */
const NEEDED = ['customer.email', 'customerIP', 'billTo.phoneNumber', 'payment.creditCard.last4'];
const page = readFileSync(new URL('../../../docs/calling.md', import.meta.url), 'utf8');
const [, table = ''] = /when the shop has none \|\n\|[-|]+\|\n((?:\|.*\n)+)/.exec(page) ?? [];
const rows = table
  .trim()
  .split('\n')
  .map((row) => {
    const [, fields = '', words = ''] = row.split('|');
    const names = [...fields.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
    return {
      names,
      choices: words
        .trim()
        .split(/; |, or /)
        .flatMap(choiceIn),
    };
  });

interface Choice {
  /** Absent: the field is left out. */
  value?: unknown;
  hasCard: boolean;
}

/** @param words such as «`""`, for a country without states» */
function choiceIn(words: string): Choice[] {
  const hasCard = !words.includes('without a card');
  if (words.startsWith('leave')) return [{ hasCard }];
  const [, written] = /^`(\{\}|""|"0"|U|free)`/.exec(words) ?? [];
  if (written === undefined) return [];
  return [{ value: /^\w/.test(written) ? written : JSON.parse(written), hasCard }];
}

/** The transaction with another value for the field; undefined: without it. */
function changed(transaction: object, [name = '', ...inner]: readonly string[], value: unknown): object {
  const { [name]: before, ...others }: Record<string, unknown> = { ...transaction };
  const isObject = typeof before === 'object' && before !== null;
  const now = inner.length === 0 ? value : changed(isObject ? before : {}, inner, value);
  return now === undefined ? others : { ...others, [name]: now };
}

const sent = rows.flatMap(({ names, choices }) =>
  choices.map((choice) => [names.join(' and ') || 'everything else', choice, names] as const),
);

it.each(sent)('%s sent as %j is accepted', (_names, { value, hasCard }, names) => {
  const { payment } = aTransaction();
  let given: object = { ...aTransaction(), payment: hasCard ? payment : { method: 'paypal' } };
  for (const name of names) given = changed(given, name.split('.'), value);
  const read = parseTransaction(given, RULES);
  if (!read.ok) throw new Error(JSON.stringify(read.fieldErrors));
  const body = { ...read.transaction, 'nf-token': 'key' };
  expect(readTransactionRequest(body, 'test', NOW)).toHaveProperty('request');
});

it('every row of the table says what to send, but for what a shop must have', () => {
  expect(rows.length).toBeGreaterThan(10);
  const without = rows.filter(({ choices }) => choices.length === 0);
  expect(without.flatMap(({ names }) => names)).toEqual(NEEDED);
});

it('the table names what an order to Hong Kong, and one that costs nothing, lack', () => {
  const named = rows.flatMap(({ names }) => names);
  expect(named).toEqual(expect.arrayContaining(['billTo.zip', 'shipTo.zip', 'payment.method']));
});

it('an address to deliver to may lack everything but its country', () => {
  const row = page.split('\n').find((line) => line.startsWith('| `shipTo` |'));
  expect(row).toContain(
    'all but `company` are required: send `""` for one that the shop lacks, except `country`',
  );
  const { country, ...others } = anAddress();
  const empty = Object.fromEntries(Object.keys(others).map((name) => [name, '']));
  const read = parseTransaction({ ...aTransaction(), shipTo: { ...empty, country } }, RULES);
  if (!read.ok) throw new Error(JSON.stringify(read.fieldErrors));
  const body = { ...read.transaction, 'nf-token': 'key' };
  expect(readTransactionRequest(body, 'test', NOW)).toHaveProperty('request');
  for (const [name, shipTo] of [
    ['firstName', { ...empty, country, firstName: undefined }],
    ['country', empty],
  ] as const) {
    const refused = { fieldErrors: [{ path: `shipTo.${name}` }] };
    expect(parseTransaction({ ...aTransaction(), shipTo }, RULES)).toMatchObject(refused);
  }
});

it('numbers are text, except price and quantity of a line item', () => {
  expect(page).toContain('Numbers are text (`"249.00"`), except `price` and `quantity` of a line item.');
  const { customer } = aTransaction();
  const numbers = {
    amount: 1,
    shippingAmount: 1,
    discountAmount: 1,
    card_attempts: 1,
    order: { invoiceNumber: 1 },
  };
  for (const [name, value] of Object.entries({ ...numbers, customer: { ...customer, id: 4711 } })) {
    expect([name, parseTransaction({ ...aTransaction(), [name]: value }, RULES).ok]).toEqual([name, false]);
  }
  const lineItems = [{ price: 1, quantity: 1 }];
  expect(parseTransaction(aTransaction({ lineItems }), RULES).ok).toBe(true);
});
