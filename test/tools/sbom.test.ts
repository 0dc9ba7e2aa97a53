import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readLockfile } from '../../tools/licences/read-lockfile.ts';
import { LIMITS, type Sbom, sbomFaults } from '../../tools/sbom/make-sbom.ts';

const packages = readLockfile();

async function ownSbom(): Promise<Sbom> {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], LIMITS);
  return JSON.parse(stdout) as Sbom;
}

describe('the SBOM', () => {
  it('is a CycloneDX document of this project with every package of the lockfile, by its checksum and licence', async () => {
    const sbom = await ownSbom();
    const { name, version } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string>;
    expect(sbom).toMatchObject({
      $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      version: 1,
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      metadata: {
        component: { type: 'application', name, version, purl: `pkg:npm/${name}@${version}` },
      },
    });
    expect(sbomFaults(sbom, packages)).toEqual([]);
    expect(sbom.components).toHaveLength(packages.length);
    const refs = sbom.components.map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    const own = sbom.dependencies.find(({ ref }) => ref === `${name}@${version}`);
    expect(own?.dependsOn.length).toBeGreaterThan(30);
    for (const { hashes } of sbom.components) {
      for (const { alg, content } of hashes) expect([alg, content.length]).toEqual(['SHA-512', 128]);
    }

    // What must be found wrong.
    const [first, ...others] = sbom.components;
    if (first === undefined) throw new Error('it is empty');
    expect(sbomFaults({ ...sbom, components: others }, packages)).toContain(
      `${first.name} ${first.version} is missing`,
    );
    const changed = { ...first, hashes: [{ alg: 'SHA-512', content: '00' }] };
    expect(sbomFaults({ ...sbom, components: [changed, ...others] }, packages)).toEqual([
      `${first.name} ${first.version} has another checksum than the lockfile`,
    ]);
    expect(sbomFaults(sbom, packages.slice(1))).toHaveLength(1);
    const dangling = [...sbom.dependencies, { ref: 'nowhere@1.0.0', dependsOn: [] }];
    expect(sbomFaults({ ...sbom, dependencies: dangling }, packages)).toEqual([
      'nowhere@1.0.0 is no component',
    ]);
  });
});
