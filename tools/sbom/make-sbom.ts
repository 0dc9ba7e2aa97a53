import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { LockedPackage } from '../licences/read-lockfile.ts';

/** In milliseconds and bytes; today it takes seconds, and has some 400 kB. */
export const LIMITS = { timeout: 120_000, maxBuffer: 32 * 1024 * 1024 };

const componentSchema = z.looseObject({
  'bom-ref': z.string(),
  name: z.string(),
  version: z.string(),
  purl: z.string().startsWith('pkg:npm/'),
  hashes: z.array(z.object({ alg: z.string(), content: z.string() })).default([]),
});
const sbomSchema = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  specVersion: z.string(),
  serialNumber: z.string().startsWith('urn:uuid:'),
  metadata: z.looseObject({ component: componentSchema }),
  components: z.array(componentSchema),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});
export type Sbom = z.infer<typeof sbomSchema>;

/**
 * All dependencies as `npm sbom` lists them from the lockfile: the same wherever it is asked, whatever is installed.
 * @throws Error when npm can't, or writes something else
 */
export async function makeSbom(root: string, name: string): Promise<Sbom> {
  const how = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { stdout } = await promisify(execFile)('npm', how, { cwd: root, ...LIMITS });
  const sbom = sbomSchema.parse(JSON.parse(stdout));
  // npm calls it as the folder is called.
  sbom.metadata.component.name = name;
  return sbom;
}

/** @returns what is wrong: a package of the lockfile that isn't in the list, or not by what is downloaded */
export function sbomFaults(sbom: Sbom, packages: readonly LockedPackage[]): string[] {
  const listed = new Map(sbom.components.map((one) => [`${one.name}@${one.version}`, one]));
  const refs = new Set([sbom.metadata.component, ...sbom.components].map((one) => one['bom-ref']));
  const missing = packages.flatMap(({ name, version, integrity }) => {
    const found = listed.get(`${name}@${version}`);
    if (found === undefined) return [`${name} ${version} is missing`];
    const hash = integrity && Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const same = found.hashes.some(({ alg, content }) => alg === 'SHA-512' && content === hash);
    return hash === undefined || same ? [] : [`${name} ${version} has another checksum than the lockfile`];
  });
  const known = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const unknown = [...listed.keys()].filter((one) => !known.has(one)).map((one) => `${one} is not locked`);
  const dangling = sbom.dependencies
    .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
    .filter((ref) => !refs.has(ref))
    .map((ref) => `${ref} is no component`);
  return [...missing, ...unknown, ...dangling];
}
