/** What the lockfile says about every package: the same on every machine, whatever is installed there. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const ROOT = new URL('../..', import.meta.url);

const packageSchema = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  integrity: z.string().optional(),
  os: z.array(z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});
const lockfileSchema = z.object({ packages: z.record(z.string(), packageSchema) });

export interface LockedPackage {
  name: string;
  version: string;
  /** An SPDX expression; undefined where nobody says. */
  licence: string | undefined;
  /** Needed by tests and checks only. */
  dev: boolean;
  hasInstallScript: boolean;
  /** SHA-512 of what is downloaded; undefined for some builds for other platforms. */
  integrity: string | undefined;
  /** A build for some operating systems only. */
  platform: boolean;
}

/** Licences that stand in a package's LICENSE file, and in its package.json don't. */
const IN_THEIR_FILE = new Map([['unionfs', 'Unlicense']]);

/** @returns every package once a version, by name */
export function readLockfile(): LockedPackage[] {
  const text = readFileSync(new URL('package-lock.json', ROOT), 'utf8');
  const { packages } = lockfileSchema.parse(JSON.parse(text));
  // A package's builds for other platforms are parts of it; some have no licence of their own in the lockfile.
  const whole = new Map(
    Object.values(packages).flatMap(({ license, optionalDependencies = {} }) =>
      Object.keys(optionalDependencies).map((part) => [part, license] as const),
    ),
  );
  const found = new Map<string, LockedPackage>();
  for (const [place, { version = '', license, ...more }] of Object.entries(packages)) {
    const [, name] = /(?:^|.*\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place) ?? [];
    if (name === undefined) continue;
    const dev = (more.dev ?? false) && (found.get(`${name}@${version}`)?.dev ?? true);
    const licence = license ?? whole.get(name) ?? IN_THEIR_FILE.get(name);
    const { hasInstallScript = false, integrity, os } = more;
    const platform = os !== undefined;
    found.set(`${name}@${version}`, { name, version, licence, dev, hasInstallScript, integrity, platform });
  }
  return [...found.values()].sort((one, other) => compare(sortKey(one), sortKey(other)));
}

function sortKey({ name, version }: LockedPackage): string {
  return `${name} ${version}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
