/** Reads what the compiler wrote: which file needs which, and which packages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Something that a file of the build names. */
export interface Reference {
  /** The file, from the package's folder, with `/`. */
  from: string;
  /** As it stands there: `./ids.js`, `zod`, `node:crypto`. */
  to: string;
}

/** The compiler writes each of these in one way only; a sentence in quotes has spaces, a module's name has none. */
const FORMS = [
  /\bfrom ['"]([^'"\s]+)['"]/g,
  /^import ['"]([^'"\s]+)['"]/gm,
  /\b(?:import|require)\(['"]([^'"\s]+)['"]\)/g,
  /\bnew URL\(['"](\.[^'"\s]+)['"], import\.meta\.url\)/g,
  /^\/\/\/ <reference types="([^"]+)"/gm,
];

/** @returns every reference of the files below `dist/` in a package's folder, declarations included */
export function referencesIn(folder: string): Reference[] {
  return readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(folder, 'dist', path), 'utf8');
      const from = `dist/${path.replaceAll('\\', '/')}`;
      return FORMS.flatMap((form) => [...text.matchAll(form)].map(([, to = '']) => ({ from, to })));
    });
}

/** @returns the package of a reference; undefined for a file of the same package, and for a module of Node's own */
export function packageOf(to: string): string | undefined {
  if (to.startsWith('.') || to.startsWith('node:') || to === 'node') return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0];
}
