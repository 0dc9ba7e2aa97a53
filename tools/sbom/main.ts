// `npm run --silent sbom`: writes the list of all dependencies (CycloneDX) that goes with a release.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { readLockfile } from '../licences/read-lockfile.ts';
import { makeSbom, sbomFaults } from './make-sbom.ts';

const manifest: unknown = JSON.parse(await readFile('package.json', 'utf8'));
const { name } = z.object({ name: z.string() }).parse(manifest);
const sbom = await makeSbom(process.cwd(), name);
const faults = sbomFaults(sbom, readLockfile());
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
else process.stdout.write(`${JSON.stringify(sbom, undefined, 2)}\n`);
