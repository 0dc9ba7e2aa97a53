import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAtLeast } from '../../src/dev/guarded-child.ts';
import { property } from '../support/property.ts';

test('parts are compared as numbers, not as text', () => {
  expect(isAtLeast('1.26.10', '1.26.9')).toBe(true);
  expect(isAtLeast('1.9', '1.26')).toBe(false);
});

test('a version with fewer parts is as new as one that ends in zeros', () => {
  expect(isAtLeast('1.28', '1.28.0')).toBe(true);
  expect(isAtLeast('1.28.0', '1.28')).toBe(true);
});

test('a release candidate counts as its release', () => {
  expect(isAtLeast('1.27rc1', '1.27')).toBe(true);
});

const version = fc.array(fc.nat(99), { minLength: 1, maxLength: 4 });

property([version, fc.nat(3)])('a version with one part raised is newer than before', (parts, index) => {
  const raised = parts.map((part, position) => (position === index % parts.length ? part + 1 : part));

  expect(isAtLeast(raised.join('.'), parts.join('.'))).toBe(true);
  expect(isAtLeast(parts.join('.'), raised.join('.'))).toBe(false);
});
