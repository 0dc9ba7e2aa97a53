import fc from 'fast-check';
import { it } from 'vitest';

/** A test of something that holds for all values. `@fast-check/vitest` has the same, and costs each worker a second of loading. */
export function property<Values extends [unknown, ...unknown[]]>(
  arbitraries: { [Index in keyof Values]: fc.Arbitrary<Values[Index]> },
  parameters?: fc.Parameters<Values>,
): (name: string, holds: (...values: Values) => unknown) => void {
  return (name, holds) =>
    it(name, () =>
      fc.assert(
        fc.asyncProperty(...arbitraries, async (...values: Values) => void (await holds(...values))),
        parameters,
      ),
    );
}

const LAST_CHARACTER = 0x10_ff_ff;
const SURROGATES = { first: 0xd8_00, count: 0x8_00 };

/** Any character of Unicode. fast-check's own `binary` makes a table of all of them first, which takes a second. */
const character = fc.nat(LAST_CHARACTER - SURROGATES.count).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('Not one character');
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);

/** Text of any characters, and now and then of what has a meaning to JavaScript. */
export function anyText(maxLength?: number): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...(maxLength === undefined ? {} : { maxLength }) });
}
