import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { workflowBundle } from '../src/workflow-bundle.ts';

const BUNDLE_WITHIN_MS = 60_000;
const failureConverterPath = fileURLToPath(import.meta.resolve('../src/codec/failure-converter.cjs'));

it('bundles the workflows once, and again for another failure converter', {
  timeout: BUNDLE_WITHIN_MS,
}, async () => {
  const plain = await workflowBundle();
  const encrypting = await workflowBundle({ failureConverterPath });
  expect(plain.code).toContain('screenOrder');
  expect(encrypting.code).toContain('encodeCommonAttributes: true');
  expect(plain.code).not.toContain('encodeCommonAttributes: true');
  expect((await workflowBundle()).code).toBe(plain.code);
});
