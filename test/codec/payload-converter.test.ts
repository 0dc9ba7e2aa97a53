import { defaultPayloadConverter } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDataConverter } from '../../src/codec/index.ts';
import { whyUnread } from '../../src/order/messages/check-messages.ts';
import { property } from '../support/property.ts';

const { payloadConverter } = loadDataConverter(createDataConverter([]));
const CANNOT_READ = 'which order-screening cannot read: send json/plain';
const payload = (encoding: string, data: string) => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

it.each([
  [payload('json/plain', '{"a'), 'A payload is not valid JSON'],
  [payload('json/protobuf', '{}'), `A payload has the encoding "json/protobuf", ${CANNOT_READ}`],
  [payload('<b>mine</b>', '{}'), `A payload has the encoding, ${CANNOT_READ}`],
  [{ data: Buffer.from('{}') }, 'A payload names no encoding'],
  [{ metadata: {} }, 'A payload names no encoding'],
])('an unreadable payload becomes a marked value that says why', (unreadable, why) => {
  expect(whyUnread(payloadConverter.fromPayload(unreadable))).toBe(why);
});

property([fc.jsonValue()])('any other payload is read and written as the SDK does', async (value) => {
  const written = payloadConverter.toPayload(value);
  expect(written).toEqual(defaultPayloadConverter.toPayload(value));
  expect(payloadConverter.fromPayload(written)).toEqual(defaultPayloadConverter.fromPayload(written));
});

const bytes = fc.uint8Array({ maxLength: 30 }).map((some) => Buffer.from(some));
const metadata = fc.dictionary(fc.constantFrom('encoding', 'other'), bytes);

property([fc.record({ metadata, data: bytes })])('no payload throws', async (any) => {
  payloadConverter.fromPayload(any);
});
