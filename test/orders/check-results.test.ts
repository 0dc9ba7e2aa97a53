import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CheckedKind, isOwnResult } from '../../src/orders/check-results.ts';
import { aPolicy } from '../fixtures/policies.ts';
import { property } from '../support/property.ts';

const at = '2026-03-02T10:00:00.000Z';
const moment = { began: at, at };
const sent = { sentFrom: at, sentUntil: at };
const insights = { risk: { 1: { name: 'ip-distance', impact: 'medium' } } };
const answered = {
  kind: 'answered',
  transactionId: 'a',
  decision: 'pass',
  found: false,
  ...sent,
  insights,
  accountMode: 'test',
  passiveMode: false,
};
const seen = { transactionId: 'a', found: true, ...sent };

const OUTCOMES: [CheckedKind, object[]][] = [
  [
    'catch-up',
    [
      answered,
      { kind: 'skipped', rule: 0 },
      { kind: 'refused', reason: 'invalid-request', words: 'no' },
      { kind: 'unreadable', reason: 'unknown-decision', seen },
      { kind: 'unanswered', reason: 'timeout', unseenSince: at },
      { kind: 'forbidden' },
    ],
  ],
  ['retry-screening', [answered, { kind: 'unanswered', reason: 'timeout' }]],
  ['poll', [{ kind: 'read', decision: 'review', insights }, { kind: 'forbidden' }]],
  [
    'read',
    [
      { kind: 'read', decision: 'error' },
      { kind: 'unreadable', words: 'no' },
    ],
  ],
  [
    'look-up',
    [{ kind: 'found', transactionId: 'a' }, { kind: 'none' }, { kind: 'hidden' }, { kind: 'forbidden' }],
  ],
  ['gateway', [{ kind: 'sent' }, { kind: 'refused', words: 'no' }, { kind: 'forbidden' }]],
  [
    'portal',
    [
      { kind: 'done', code: '200', chargeback: { reason_code: '10' } },
      { kind: 'refused', code: '400', message: 'no' },
      { kind: 'unconfirmed' },
      { kind: 'not-sent' },
      { kind: 'too-late' },
      { kind: 'forbidden', maybeDone: true },
    ],
  ],
];
const results: [CheckedKind, unknown][] = [
  ...OUTCOMES.flatMap(([kind, outcomes]) =>
    outcomes.map((outcome): [CheckedKind, unknown] => [kind, { outcome, ...moment }]),
  ),
  ['deliver', moment],
  ['forget-card', moment],
  ['policy', { policy: aPolicy(), rules: 1, ...moment }],
];

it.each(results)('a result of %s is its own: %j', (kind, result) => {
  expect(isOwnResult(kind, result)).toBe(true);
});

describe.each(results)('of %s', (kind, result) => {
  property([fc.jsonValue()])('no other JSON is, and none throws', async (value) => {
    expect(isOwnResult(kind, value)).toBe(false);
  });

  property([fc.nat(), fc.constantFrom(null, 1, 'x', [], {}, [[]], { a: null }, '9999')])(
    'one of its own values that is replaced by another never throws',
    async (place, value) => {
      const text = JSON.stringify(result);
      const paths: string[][] = [];
      const walk = (one: unknown, path: string[]): void => {
        if (typeof one !== 'object' || one === null) return;
        for (const [name, inner] of Object.entries(one)) {
          paths.push([...path, name]);
          walk(inner, [...path, name]);
        }
      };
      walk(result, []);
      const path = paths[place % paths.length] ?? [];
      const changed: unknown = JSON.parse(text);
      set(changed, path, value);
      isOwnResult(kind, changed);
    },
  );
});

it('a result from a time to come is none', () => {
  expect(isOwnResult('deliver', moment, Date.parse(at))).toBe(true);
  expect(isOwnResult('deliver', moment, Date.parse(at) - 10 * 60_000)).toBe(false);
});

it.each(['policy', 'rules'])('a policy without %s is none', (name) => {
  const given: Record<string, unknown> = { policy: { ...aPolicy() }, rules: 1, ...moment };
  delete given[name];
  expect(isOwnResult('policy', given)).toBe(false);
});

function set(target: unknown, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (typeof target !== 'object' || target === null) return;
  if (rest.length === 0) Reflect.set(target, name, value);
  else set(Reflect.get(target, name), rest, value);
}
