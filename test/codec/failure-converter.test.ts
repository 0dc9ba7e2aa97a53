import { randomBytes } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeOptionalFailureToOptionalError,
  encodeErrorToFailure,
  loadDataConverter,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import { expect, it } from 'vitest';
import { createDataConverter } from '../../src/codec/index.ts';

const failure = () =>
  ApplicationFailure.create({
    type: 'refused-by-screening-service',
    message: 'ada@example.com is unknown',
    details: [{ serviceMessage: 'ada@example.com' }],
  });
const everythingIn = (value: unknown): string =>
  JSON.stringify(value, (_key, one) => (one instanceof Uint8Array ? String(one) : one)) ?? '';

it('with keys, a failure shows its type and no words, no stack and no details', async () => {
  const converter = loadDataConverter(createDataConverter([{ id: 'a', key: randomBytes(32) }]));
  const encoded = await encodeErrorToFailure(converter, failure());
  expect(encoded).toMatchObject({
    message: 'Encoded failure',
    stackTrace: '',
    applicationFailureInfo: { type: 'refused-by-screening-service' },
  });
  expect(everythingIn(encoded)).not.toMatch(/ada@example|payload-codec|failure-converter/);
  const decoded = await decodeOptionalFailureToOptionalError(converter, encoded);
  expect(decoded).toMatchObject({
    message: 'ada@example.com is unknown',
    type: 'refused-by-screening-service',
    details: [{ serviceMessage: 'ada@example.com' }],
  });
});

it('without keys, a failure is in plain, as it was before there were any', async () => {
  const encoded = await encodeErrorToFailure(loadDataConverter(createDataConverter([])), failure());
  expect(encoded.message).toBe('ada@example.com is unknown');
});
