/** Reads the imports in the compiled files: of other files and of packages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An import of a compiled file. */
export interface Reference {
  /** The importing file, relative to the package's folder, with `/`. */
  from: string;
  /** The specifier: `./ids.js`, `zod`, `node:crypto`. */
  to: string;
}

/** The compiler writes each import in one of these forms. Quoted text with spaces is no module name. */
const FORMS = [
  /\bfrom ['"]([^'"\s]+)['"]/g,
  /^import ['"]([^'"\s]+)['"]/gm,
  /\b(?:import|require)\(['"]([^'"\s]+)['"]\)/g,
  /\bnew URL\(['"](\.[^'"\s]+)['"], import\.meta\.url\)/g,
  /^\/\/\/ <reference types="([^"]+)"/gm,
];

/** @returns all imports of the files below `dist/` in a package's folder, declarations included */
export function referencesIn(folder: string): Reference[] {
  return readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.[cm]?[jt]s$/.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(folder, 'dist', path), 'utf8');
      const from = `dist/${path.replaceAll('\\', '/')}`;
      return FORMS.flatMap((form) => [...text.matchAll(form)].map(([, to = '']) => ({ from, to })));
    });
}

/** @returns the package of an import; undefined for a file of the same package or a Node module */
export function packageOf(to: string): string | undefined {
  if (to.startsWith('.') || to.startsWith('node:') || to === 'node') return undefined;
  return /^(?:@[^/]+\/)?[^/]+/.exec(to)?.[0];
}
