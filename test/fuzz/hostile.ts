/** What nobody should send, made at random: valid bodies with a few things wrong, and values at the edges of everything. */
import fc from 'fast-check';
import { anyText } from '../support/property.ts';

/** How often more than usual each property runs: `FUZZ_FACTOR=50 npx vitest run test/fuzz`. */
const FACTOR = Number(process.env.FUZZ_FACTOR ?? '1');

/**
 * In continuous integration every run has the same seed, so that it says something about the change it is for and nothing
 * else. Elsewhere, and in longer runs, seeds are random: that is where new faults are found.
 */
const SEED = process.env.CI !== undefined && FACTOR === 1 ? { seed: 20_261_121 } : {};

/** @returns fast-check's settings; a failure prints the seed that brings it back */
export function runs(usual: number): { numRuns: number; seed?: number } {
  return { numRuns: Math.ceil(usual * FACTOR), ...SEED };
}

/** Long enough for any number of runs; whether one answer takes too long is a check of its own. */
export const PATIENCE_MS = 30_000 * Math.max(1, FACTOR);

/** Stands in values only: wherever it turns up in an answer or a log, a value that was sent was shown. */
export const CANARY = 'canary7f3a9c';
/** Stands in values and in names of fields. */
export const CARD_CANARY = '4000056655665556';

const CONTROLS = [...'\u0000\u0008\u001b\u007f\u0085\u2028\u202e\ufeff\ufffd'];
const SURROGATES = ['\ud800', '\udfff', '\udc00\ud800'];

const oddText = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '.', '..', '#', '##', "'", '"', '\\', '%', '%00', '{{x}}', 'null', 'NaN', '-1', '1e9'],
  ),
  fc.constantFrom(...CONTROLS, ...SURROGATES),
  anyText(40),
);

/** Text that holds a canary, among other oddities. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(oddText, oddText).map(([before, after]) => `${before}${CANARY}${after}`),
  fc.constantFrom(CARD_CANARY, `${CANARY}@example.com`, `https://${CANARY}.example/`, `<b>${CANARY}</b>`),
  oddText,
  fc.constantFrom(...CONTROLS, ...SURROGATES).map((odd) => `${CANARY}${odd}`),
  fc.constantFrom(65, 129, 5_000, 200_000).map((length) => CANARY.padEnd(length, 'x')),
  fc.constantFrom(25, 5_000, 200_000).map((length) => '9'.repeat(length)),
);

const hostileNumber = fc.constantFrom(
  ...[0, -0, -1, 0.1, 1e21, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE],
  ...[Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, 2 ** 31, 2 ** 53, 4_000_056_655_665_556],
);

/** Names that mean something to JavaScript, or nothing to us. */
const hostileName = fc.oneof(
  fc.constantFrom(
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON', ''],
  ),
  fc.constantFrom('nf-token', 'nfToken', 'nf_token', 'cardNumber', 'CARD_CODE', CARD_CANARY, 'length', '0'),
  anyText(12),
  fc.constant('k'.repeat(5_000)),
);

/** Any JSON value, canaries in its text, now and then deep. */
export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false),
  fc.constantFrom([], {}, [[]], [null], [{}]),
  fc.jsonValue({ maxDepth: 4 }),
  fc.tuple(hostileName, hostileText).map(([name, value]) => withOwn({}, name, value)),
  fc.tuple(fc.constantFrom(15, 22, 1_000), hostileText).map(([depth, value]) => nested(depth, value)),
  fc.constantFrom(300, 5_000).map((length) => Array.from({ length }, () => ({ [CARD_CANARY]: CANARY }))),
);

function nested(depth: number, core: unknown): unknown {
  let value = core;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Sets a field as JSON does: one named `__proto__` is a field like any other. */
function withOwn(object: object, name: string, value: unknown): object {
  // No JSON gives a list anything but items.
  if (Array.isArray(object) && !/^\d{1,3}$/.test(name)) return object;
  // A copy, since the value may be put into another body later.
  return Object.defineProperty(object, name, {
    value: structuredClone(value),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

type Container = Record<string, unknown>;
type Change = (container: Container, name: string) => void;

/** Puts another value in the place of a field. */
const setting =
  (replacing: (old: unknown) => unknown): Change =>
  (container, name) =>
    void withOwn(container, name, replacing(container[name]));

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 2, arbitrary: hostileValue.map((value) => setting(() => value)) },
  {
    weight: 5,
    arbitrary: fc.constantFrom<Change>(
      (container, name) => void delete container[name],
      setting((old) => [old]),
      setting((old) => ({ value: old })),
      setting((old) => JSON.stringify(old) ?? ''),
      setting((old) => Number(JSON.stringify(old)) || 0),
    ),
  },
  hostileText.map((text) => setting((old) => (typeof old === 'string' ? `${old}${text}` : old))),
  fc.tuple(hostileName, hostileValue).map(
    ([added, value]): Change =>
      (container) =>
        void withOwn(container, added, value),
  ),
  hostileValue.map(
    (value): Change =>
      (container, name) =>
        void withOwn(container, otherSpelling(name), value),
  ),
);

function otherSpelling(name: string): string {
  const camel = name.replace(/[-_](\w)/g, (_, next: string) => next.toUpperCase());
  return camel === name ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : camel;
}

/**
 * @param whole a body that is taken as it is
 * @returns the body with up to four changes anywhere in it, or something else altogether
 */
export function mutated(whole: object): fc.Arbitrary<unknown> {
  const changes = fc.array(fc.tuple(fc.nat(), change), { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 12, arbitrary: changes.map((list) => changed(whole, list)) },
    { weight: 1, arbitrary: hostileValue },
  );
}

function changed(whole: object, changes: [number, Change][]): unknown {
  const root = { body: structuredClone(whole) };
  for (const [where, apply] of changes) {
    const places = placesIn(root.body);
    const place = places[where % places.length];
    if (place !== undefined) apply(place.container, place.name);
  }
  return root.body;
}

function placesIn(value: unknown): { container: Container; name: string }[] {
  const places: { container: Container; name: string }[] = [];
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined && places.length < 500; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const container = next as Container;
    for (const name of Object.keys(container)) places.push({ container, name });
    open.push(...Object.values(container));
  }
  return places;
}
