import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isOwnResult } from '../../../src/order/messages/shapes.ts';
import type { ActivityCall } from '../../../src/workflows/perform.ts';
import { aPolicy } from '../../fixtures/policies.ts';
import { property } from '../../support/property.ts';

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
  accountMode: 'test',
  passiveMode: false,
  insights,
  ...sent,
};
const seen = { transactionId: 'a', found: true, ...sent };
const unreadable = { kind: 'unreadable', reason: 'unknown-decision' };

const OUTCOMES: [ActivityKind, object][] = [
  ['catch-up', answered],
  ['catch-up', { kind: 'skipped', rule: 0 }],
  ['catch-up', { kind: 'refused', reason: 'invalid-request', words: 'no' }],
  ['catch-up', { ...unreadable, seen }],
  ['catch-up', { kind: 'unanswered', reason: 'timeout', unseenSince: at }],
  ['catch-up', { kind: 'forbidden' }],
  ['retry-screening', answered],
  ['retry-screening', { kind: 'unanswered', reason: 'timeout' }],
  ['poll', { kind: 'read', decision: 'review', insights }],
  ['poll', { kind: 'forbidden' }],
  ['read', { kind: 'read', decision: 'error' }],
  ['read', { kind: 'unreadable', words: 'no' }],
  ['look-up', { kind: 'found', transactionId: 'a' }],
  ['look-up', { kind: 'none' }],
  ['look-up', { kind: 'hidden' }],
  ['look-up', { kind: 'forbidden' }],
  ['gateway', { kind: 'sent' }],
  ['gateway', { kind: 'refused', words: 'no' }],
  ['gateway', { kind: 'forbidden' }],
  ['portal', { kind: 'done', code: '200', chargeback: { reason_code: '10' } }],
  ['portal', { kind: 'refused', code: '400', message: 'no' }],
  ['portal', { kind: 'unconfirmed' }],
  ['portal', { kind: 'not-sent' }],
  ['portal', { kind: 'too-late' }],
  ['portal', { kind: 'forbidden', maybeDone: true }],
];
const RESULTS: [ActivityKind, object][] = [
  ...OUTCOMES.map(([kind, outcome]): [ActivityKind, object] => [kind, { outcome, ...moment, sentFrom: at }]),
  // Without a transaction a read only tells the time.
  ['read', moment],
  ['catch-up', { outcome: answered, fingerprint: 'a', policy: aPolicy(), ...moment }],
  ['catch-up', { outcome: answered, policy: { passive: true }, ...moment }],
  ['retry-screening', { outcome: answered, again: true, whenUnavailable: 'hold', ...moment }],
  ['deliver', moment],
  ['forget-card', moment],
];

it.each(RESULTS)('a result of %s is its own: %j', (kind, result) => {
  expect([isOwnResult(kind, result), isOwnResult(kind, result, Date.parse(at))]).toEqual([true, true]);
});

it.each<[string, ActivityKind, object]>([
  ['a policy with another mode', 'catch-up', { outcome: answered, policy: { ...aPolicy(), passive: 'no' } }],
  ['a policy with another window', 'catch-up', { outcome: answered, policy: { cancelWindowMs: '5 days' } }],
  ['a policy with other events', 'catch-up', { outcome: answered, policy: { events: true } }],
  ['insights that are none', 'poll', { outcome: { kind: 'read', decision: 'pass', insights: null } }],
  ['a create at no time', 'catch-up', { outcome: { kind: 'unanswered', reason: 'x', unseenSince: null } }],
  [
    'a transaction seen at no time',
    'catch-up',
    { outcome: { ...unreadable, seen: { ...seen, sentFrom: 1 } } },
  ],
  ['a lookup that does not say when the create was sent', 'look-up', { outcome: { kind: 'none' } }],
  ['an unknown decision', 'poll', { outcome: { kind: 'read', decision: 'maybe' } }],
  ['an unknown outcome', 'portal', { outcome: { kind: 'maybe' } }],
  ['a time that is none', 'deliver', { at: 'yesterday' }],
  ['a time to come', 'deliver', { at: '2026-03-02T10:10:00.000Z' }],
])('%s is no result', (_what, kind, result) => {
  expect(isOwnResult(kind, { ...moment, ...result }, Date.parse(at))).toBe(false);
});

property([fc.constantFrom(...RESULTS), fc.nat(), fc.constantFrom(null, 1, 'x', [], {}, [[]], { a: null })])(
  'one of its own values that is replaced by another never throws',
  ([kind, result], place, value) => {
    let left = place % JSON.stringify(result).split(':').length;
    const changed: unknown = JSON.parse(JSON.stringify(result), (_name, own) => (left-- === 0 ? value : own));
    isOwnResult(kind, changed);
  },
);
