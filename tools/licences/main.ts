// `npm run licences`: writes docs/licences.md.
import { writeFileSync } from 'node:fs';
import { listLicences } from './list-licences.ts';
import { readLockfile } from './read-lockfile.ts';

writeFileSync(new URL('../../docs/licences.md', import.meta.url), listLicences(readLockfile()));
