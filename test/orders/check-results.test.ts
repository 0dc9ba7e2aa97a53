import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOwnResult } from '../../src/orders/check-results.ts';
import type { ActivityCall } from '../../src/workflows/perform.ts';
import { aPolicy } from '../fixtures/policies.ts';
import { property } from '../support/property.ts';

type ActivityKind = ActivityCall['kind'];

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

const OUTCOMES: [ActivityKind, object[]][] = [
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
const results: [ActivityKind, unknown][] = [
  ...OUTCOMES.flatMap(([kind, outcomes]) =>
    outcomes.map((outcome): [ActivityKind, unknown] => [
      kind,
      { outcome, ...moment, ...(kind === 'look-up' && { sentFrom: at }) },
    ]),
  ),
  // Without a transaction a read only tells the time.
  ['read', moment],
  ['catch-up', { outcome: answered, fingerprint: 'a', policy: aPolicy(), ...moment }],
  ['retry-screening', { outcome: answered, again: true, ...moment }],
  ['deliver', moment],
  ['forget-card', moment],
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

it.each(['passive', 'cancelWindowMs', 'events'])('a catch-up whose policy lacks %s is none', (name) => {
  const policy: Record<string, unknown> = { ...aPolicy() };
  delete policy[name];
  expect(isOwnResult('catch-up', { outcome: answered, policy, ...moment })).toBe(false);
});

it('a lookup that does not say when the create was sent is none', () => {
  expect(isOwnResult('look-up', { outcome: { kind: 'none' }, ...moment })).toBe(false);
});

function set(target: unknown, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (typeof target !== 'object' || target === null) return;
  if (rest.length === 0) Reflect.set(target, name, value);
  else set(Reflect.get(target, name), rest, value);
}
