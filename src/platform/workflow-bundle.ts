/** Bundles the workflows for workers and replays, and caches the bundle. */
import { createHash, randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKFLOWS = fileURLToPath(import.meta.resolve('../workflows/index.ts'));
/** Included in every bundle, since every worker uses it. */
const PAYLOAD_CONVERTER = fileURLToPath(new URL('../codec/payload-converter.cjs', import.meta.url));
/** The sources that the cache key covers: all that a bundle has of ours. This file is included because it has the bundle options. */
export const SOURCES = [
  'src/workflows',
  'src/order',
  'src/contract',
  'src/card-data',
  'src/codec',
  'src/platform/workflow-bundle.ts',
  'node_modules/@temporalio/worker/package.json',
];
const KEPT_IN = join(ROOT, 'node_modules/.cache/order-screening');

type BundledModules = Pick<DataConverter, 'failureConverterPath'> &
  Pick<BundleOptions, 'workflowInterceptorModules'>;

/**
 * Returns the cached bundle for the current sources, or creates it. Bundling takes most of a worker's start.
 * @param modules paths of additional modules: the data converter's, or a test's
 * @returns the `workflowBundle` option of `Worker.create`: a file, or the code if the cache can't be written
 */
export async function workflowBundle({
  failureConverterPath,
  workflowInterceptorModules = [],
}: BundledModules = {}): Promise<{ codePath: string } | { code: string }> {
  const failureConverter = failureConverterPath === undefined ? {} : { failureConverterPath };
  const added = [PAYLOAD_CONVERTER, ...Object.values(failureConverter), ...workflowInterceptorModules];
  const codePath = join(KEPT_IN, `workflows-${await fingerprint(added)}.js`);
  if (await isReadable(codePath)) return { codePath };
  const { code } = await bundleWorkflowCode({
    logger: new DefaultLogger('ERROR'),
    workflowsPath: WORKFLOWS,
    // All cached orders of a process share one copy of our modules, which Temporal freezes; otherwise each order would have its
    // own copy. So modules under `src/workflows/` and `src/order/` must not keep state of an order, or use the workflow's context
    // while they load.
    preloadModules: [WORKFLOWS],
    payloadConverterPath: PAYLOAD_CONVERTER,
    ...failureConverter,
    workflowInterceptorModules,
  });
  return (await kept(codePath, code)) ? { codePath } : { code };
}

function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Writes the file atomically, since two processes may start together. @returns false if the folder can't be written */
async function kept(file: string, code: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  try {
    await mkdir(KEPT_IN, { recursive: true });
    await writeFile(draft, code);
    await rename(draft, file);
    return true;
  } catch {
    return false;
  }
}

async function fingerprint(added: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const source of [...SOURCES.map((path) => join(ROOT, path)), ...added]) {
    for (const file of await filesOf(source)) hash.update(file).update(await readFile(file));
  }
  return hash.digest('hex').slice(0, 16);
}

async function filesOf(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true }).catch(() => undefined);
  return names === undefined
    ? [path]
    : names
        .filter((name) => name.endsWith('.ts'))
        .sort()
        .map((name) => join(path, name));
}
