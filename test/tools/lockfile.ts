/** What the lockfile says about every package: the same on every machine, whatever is installed there. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);

const packageSchema = z.object({
  version: z.string().optional(),
  license: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
  integrity: z.string().optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});
const lockfileSchema = z.object({ packages: z.record(z.string(), packageSchema) });

export interface LockedPackage {
  name: string;
  version: string;
  /** An SPDX expression; undefined where nobody says. */
  licence: string | undefined;
  hasInstallScript: boolean;
  /** SHA-512 of what is downloaded. */
  integrity: string | undefined;
}

/** Licences that stand in a package's LICENSE file, and in its package.json don't. */
const IN_THEIR_FILE = new Map([['unionfs', 'Unlicense']]);

/** @returns every package once a version */
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
    const licence = license ?? whole.get(name) ?? IN_THEIR_FILE.get(name);
    const { hasInstallScript = false, integrity } = more;
    found.set(`${name}@${version}`, { name, version, licence, hasInstallScript, integrity });
  }
  return [...found.values()];
}
