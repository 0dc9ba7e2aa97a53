import { describe, expect, it } from 'vitest';
import { transactionRequestSchema } from '../../src/screening/index.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { faultsOf, LIMITS, MERCHANT, withField } from './transaction-cases.ts';

describe('the limits of the fields', () => {
  const cases = LIMITS.flatMap(([path, good, bad]) => [
    ...good.map((value) => ({ path, value, fits: true })),
    ...bad.map((value) => ({ path, value, fits: false })),
  ]);
  it.each(cases)('$path: $value fits: $fits', ({ path, value, fits }) => {
    const base = path.startsWith('merchant.')
      ? { ...aTransaction(), merchant: { ...MERCHANT } }
      : aTransaction();
    const paths = Object.keys(faultsOf(withField(path, value, base)));
    if (fits) expect(paths).toEqual([]);
    else expect(paths.filter((fault) => fault.startsWith(path))).not.toEqual([]);
  });

  it('covers every field of the schema', () => {
    const covered = new Set(LIMITS.map(([path]) => path.split('.')[0]));
    expect(Object.keys(transactionRequestSchema.shape).filter((field) => !covered.has(field))).toEqual([]);
  });

  it('names what a not empty billTo lacks, field by field', () => {
    expect(Object.keys(faultsOf(withField('billTo', { company: 'x' })))).toEqual(
      ['firstName', 'lastName', 'address', 'city', 'state', 'zip', 'country', 'phoneNumber'].map(
        (f) => `billTo.${f}`,
      ),
    );
  });

  it.each([
    ['Goods', ['shipTo']],
    ['Services', []],
  ])('asks for shipTo by the product type %s', (productType, paths) => {
    const { shipTo: _left, ...order } = aTransaction();
    expect(Object.keys(faultsOf({ ...order, merchant: { ...MERCHANT, productType } }))).toEqual(paths);
  });
});
