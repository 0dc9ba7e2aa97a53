// `npm run pack`: builds the package of the client library and writes it to the current folder.
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makePackage, pack } from './make-package.ts';

const folder = await mkdtemp(join(tmpdir(), 'order-screening-package-'));
try {
  await makePackage(process.cwd(), folder);
  const { file, paths } = await pack(folder, folder);
  await copyFile(join(folder, file), file);
  console.log(`${file}, ${paths.length} files. To use it: npm install <path to it>`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
