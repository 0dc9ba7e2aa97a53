import { defaultPayloadConverter, defineSearchAttributeKey } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { describe, expect, it } from 'vitest';
import { msOf } from '../../src/client/describe-order.ts';
import { decodeArrayFromPayloads, decodeTypedSearchAttributes } from '../../src/client/sdk-internals.ts';

const GONE = 'The SDK has it no more, or somewhere else: see src/client/sdk-internals.ts.';

describe('what the client uses of the SDK’s inside', () => {
  it('decodeTypedSearchAttributes reads search attributes as the server lists them', () => {
    expect(decodeTypedSearchAttributes, GONE).toBeTypeOf('function');
    const payload = defaultPayloadConverter.toPayload('2026-03-02T10:00:00Z');
    const typed = { ...payload, metadata: { ...payload.metadata, type: Buffer.from('Datetime') } };
    const attributes = decodeTypedSearchAttributes({ CancelBy: typed });
    const key = defineSearchAttributeKey('CancelBy', 'DATETIME');
    expect(attributes.get(key)).toEqual(new Date('2026-03-02T10:00:00Z'));
  });

  it('decodeArrayFromPayloads reads an argument by the data converter', async () => {
    expect(decodeArrayFromPayloads, GONE).toBeTypeOf('function');
    const payloads = [defaultPayloadConverter.toPayload({ orderId: '1' })];
    expect(await decodeArrayFromPayloads(loadDataConverter(), payloads)).toEqual([{ orderId: '1' }]);
  });
});

it.each([0, 1, 999, 1_772_445_600_123])('%i ms of Temporal’s API are read as they are written', (ms) => {
  expect(msOf(msToTs(ms))).toBe(ms);
});
