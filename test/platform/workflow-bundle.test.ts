import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SOURCES, workflowBundle } from '../../src/platform/workflow-bundle.ts';

const BUNDLE_WITHIN_MS = 60_000;
const failureConverterPath = fileURLToPath(import.meta.resolve('../../src/codec/failure-converter.cjs'));

it('bundles the workflows once, and again for another failure converter', {
  timeout: BUNDLE_WITHIN_MS,
}, async () => {
  const plain = await workflowBundle();
  const encrypting = await workflowBundle({ failureConverterPath });
  expect(await codeOf(plain)).toContain('screenOrder');
  expect(await codeOf(encrypting)).toContain('encodeCommonAttributes: true');
  expect(await codeOf(plain)).not.toContain('encodeCommonAttributes: true');
  expect(await workflowBundle()).toEqual(plain);
});

it('has no module whose change would leave an old bundle in the cache', {
  timeout: BUNDLE_WITHIN_MS,
}, async () => {
  const modules = [...(await codeOf(await workflowBundle())).matchAll(/"\.\/(src\/[^"]+\.(?:ts|cjs))"/g)];
  expect(modules.length).toBeGreaterThan(50);
  const names = modules.map(([, name = '']) => name);
  const uncovered = names.filter((name) => !SOURCES.some((source) => name.startsWith(`${source}/`)));
  expect([...new Set(uncovered)]).toEqual([]);
});

function codeOf(bundle: Awaited<ReturnType<typeof workflowBundle>>): Promise<string> {
  if ('code' in bundle) throw new Error('the bundle was not kept');
  return readFile(bundle.codePath, 'utf8');
}
