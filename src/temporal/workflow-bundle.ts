/** The workflows as every worker runs them and as histories are replayed: bundled once, then kept. */
import { createHash, randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { type BundleOptions, bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WORKFLOWS = fileURLToPath(import.meta.resolve('../workflows/index.ts'));
/** Every worker reads payloads with it, so every bundle has it. */
const PAYLOAD_CONVERTER = fileURLToPath(new URL('../codec/payload-converter.cjs', import.meta.url));
/** All that workflow code is made of, this file included, since it says how. */
const SOURCES = [
  'src/workflows',
  'src/orders',
  'src/temporal/workflow-bundle.ts',
  'node_modules/@temporalio/worker/package.json',
];
const KEPT_IN = join(ROOT, 'node_modules/.cache/order-screening');

/**
 * All orders of a process share one copy of our modules, which Temporal freezes: each order in the cache would have one of its
 * own. So no module under `src/workflows/` or `src/orders/` may keep anything of an order, nor ask for the workflow that it
 * runs in while it is loaded.
 */
const OPTIONS: Omit<BundleOptions, 'workflowsPath'> = {
  logger: new DefaultLogger('ERROR'),
};

type BundledModules = Pick<DataConverter, 'failureConverterPath' | 'payloadConverterPath'> &
  Pick<BundleOptions, 'workflowInterceptorModules'> & {
    /** Instead of our own: a test's. */
    workflowsPath?: string;
  };

/**
 * Bundles the workflows, or takes what was bundled from the same sources before: it is the larger part of a worker's start.
 * @param modules paths of what is bundled with them: the data converter's, or a test's
 * @returns what `Worker.create` takes as `workflowBundle`: a file, or the code, where no file can be kept
 */
export async function workflowBundle(
  modules: BundledModules = {},
): Promise<{ codePath: string } | { code: string }> {
  const codePath = join(KEPT_IN, `workflows-${await fingerprint(modules)}.js`);
  if (await isReadable(codePath)) return { codePath };
  const { workflowInterceptorModules, workflowsPath = WORKFLOWS } = modules;
  const { failureConverterPath, payloadConverterPath = PAYLOAD_CONVERTER } = modules;
  const { code } = await bundleWorkflowCode({
    ...OPTIONS,
    workflowsPath,
    preloadModules: [workflowsPath],
    payloadConverterPath,
    ...(failureConverterPath !== undefined && { failureConverterPath }),
    ...(workflowInterceptorModules !== undefined && { workflowInterceptorModules }),
  });
  return (await kept(codePath, code)) ? { codePath } : { code };
}

function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}

/** Whole or not at all, also when two processes start together. A folder that can't be written is no error. */
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

async function fingerprint({
  failureConverterPath,
  payloadConverterPath = PAYLOAD_CONVERTER,
  workflowInterceptorModules = [],
  workflowsPath = WORKFLOWS,
}: BundledModules): Promise<string> {
  const hash = createHash('sha256');
  const own = SOURCES.map((path) => join(ROOT, path));
  const converters = [
    payloadConverterPath,
    ...(failureConverterPath === undefined ? [] : [failureConverterPath]),
  ];
  for (const source of [...own, workflowsPath, ...converters, ...workflowInterceptorModules]) {
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
