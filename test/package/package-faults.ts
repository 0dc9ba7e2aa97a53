/** What the package of the client library may contain and depend on. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { readManifest } from '../../tools/package/library-manifest.ts';
import { packageOf, referencesIn } from '../../tools/package/modules.ts';

const MUST_HOLD = ['package.json', 'README.md', 'CHANGELOG.md'];
const MAY_HOLD = /^dist\/.+\.(?:js|cjs|d\.ts|d\.cts)$/;

/** What an order service installs with the client library. Another one is a decision: each comes into somebody's process. */
export const MAY_PULL_IN = [
  '@temporalio/client',
  '@temporalio/common',
  '@temporalio/envconfig',
  '@temporalio/proto',
  '@temporalio/workflow',
  'node-fetch',
  'redis',
  'safe-stable-stringify',
  'zod',
];

/**
 * @param folder as `makePackage` made it
 * @param paths what `pack` put into the file
 * @returns in words what is wrong; empty when the package is as it must be
 */
export function packageFaults(folder: string, paths: readonly string[]): string[] {
  const held = new Set(paths);
  const { exports } = readManifest(readFileSync(join(folder, 'package.json'), 'utf8'));
  const targets = Object.values(exports).flatMap((to) => (typeof to === 'string' ? [to] : Object.values(to)));
  const needed = [...MUST_HOLD, ...targets.map((to) => posix.normalize(to))];
  const references = referencesIn(folder);
  return [
    ...new Set([
      ...needed.filter((path) => !held.has(path)).map((path) => `${path} is missing`),
      ...paths
        .filter((path) => !MUST_HOLD.includes(path) && !MAY_HOLD.test(path))
        .map((path) => `${path} doesn't belong in it`),
      ...references
        .filter(({ from, to }) => to.startsWith('.') && !isThere(held, posix.join(posix.dirname(from), to)))
        .map(({ from, to }) => `${from} needs ${to}, which is missing`),
      ...references
        .map(({ from, to }) => ({ from, name: packageOf(to) }))
        .filter(({ name }) => name !== undefined && !MAY_PULL_IN.includes(name))
        .map(({ from, name }) => `${from} pulls in ${name}, which the client library must do without`),
    ]),
  ];
}

/** A declaration names the source that it was made of. */
function isThere(held: ReadonlySet<string>, path: string): boolean {
  return held.has(path) || held.has(path.replace(/\.([cm]?)[jt]s$/, '.d.$1ts'));
}
