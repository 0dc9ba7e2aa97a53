/** Whether package-lock.json was made of package.json as it is now. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Fault } from './fault.ts';

const PARTS = [
  'name',
  'version',
  'license',
  'bin',
  'engines',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
];
const manifestSchema = z.record(z.string(), z.unknown());
const lockSchema = z.object({
  name: z.string(),
  version: z.string(),
  packages: z.record(z.string(), z.record(z.string(), z.unknown())),
});
const pinned = z.record(z.string(), z.string()).catch({});

const TODO = 'Run npm install, and look at what it changes in package-lock.json';

/** Compares the project's own entry, and the version that is locked for each one that is pinned. */
export function lockfileFaults(manifestText: string, lockText: string): Fault[] {
  const manifest = manifestSchema.parse(JSON.parse(manifestText));
  const lock = lockSchema.parse(JSON.parse(lockText));
  const own = lock.packages[''] ?? {};
  const parts = PARTS.filter((part) => !isDeepStrictEqual(manifest[part], own[part]));
  if (lock.version !== manifest.version && !parts.includes('version')) parts.push('version');
  const named = { ...pinned.parse(manifest.dependencies), ...pinned.parse(manifest.devDependencies) };
  const others = Object.entries(named)
    .filter(([, version]) => /^\d/.test(version))
    .filter(([name, version]) => lock.packages[`node_modules/${name}`]?.version !== version)
    .map(([name]) => name);
  return [
    ...(parts.length > 0
      ? [{ what: `package-lock.json has another ${parts.join(', ')} than package.json`, todo: TODO }]
      : []),
    ...(others.length > 0
      ? [{ what: `package-lock.json doesn't lock the pinned version of ${others.join(', ')}`, todo: TODO }]
      : []),
  ];
}
