import { expect, it } from 'vitest';
import { isOwnResult } from '../../../src/order/messages/shapes.ts';
import type { ActivityCall } from '../../../src/workflows/perform.ts';

const at = '2026-03-02T10:00:00.000Z';
const moment = { began: at, at };
const answered = { kind: 'answered', transactionId: 'a', decision: 'pass', sentFrom: at, sentUntil: at };

it.each<[string, ActivityCall['kind'], unknown, boolean]>([
  ['a decision', 'poll', { ...moment, outcome: { kind: 'read', decision: 'review' } }, true],
  ['a read without a transaction', 'read', moment, true],
  ['a found transaction', 'look-up', { ...moment, sentFrom: at, outcome: { kind: 'none' } }, true],
  ['a delivery', 'deliver', moment, true],
  ['an action', 'portal', { ...moment, outcome: { kind: 'too-late' } }, true],
  ['a screening', 'catch-up', { ...moment, outcome: answered }, true],
  ['a word', 'poll', 'pass', false],
  ['the outcome of another call', 'poll', { ...moment, outcome: { kind: 'done' } }, false],
  ['an inherited kind', 'poll', { ...moment, outcome: { kind: 'toString' } }, false],
  ['no outcome', 'portal', moment, false],
  ['no moment', 'deliver', {}, false],
  ['a time that is none', 'deliver', { ...moment, at: 'yesterday' }, false],
  ['a time to come', 'deliver', { ...moment, at: '2026-03-02T10:10:00.000Z' }, false],
  [
    'a lookup that does not say when the create was sent',
    'look-up',
    { ...moment, outcome: { kind: 'none' } },
    false,
  ],
  ['an unknown decision', 'poll', { ...moment, outcome: { kind: 'read', decision: 'maybe' } }, false],
  ['no decision', 'poll', { ...moment, outcome: { kind: 'read' } }, false],
  [
    'a screening without its transaction',
    'catch-up',
    { ...moment, outcome: { ...answered, transactionId: null } },
    false,
  ],
])('%s: %s takes %j: %s', (_what, kind, result, isOwn) => {
  expect(isOwnResult(kind, result, Date.parse(at))).toBe(isOwn);
});
