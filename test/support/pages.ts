import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** @returns the pages that people read, as paths from the project's folder; those named come first */
export function pagesOf(first: readonly string[] = []): string[] {
  const docs = readdirSync(`${ROOT}docs`).filter((name) => name.endsWith('.md'));
  const examples = readdirSync(`${ROOT}examples`, { recursive: true, encoding: 'utf8' });
  const all = [
    ...docs.map((name) => `docs/${name}`),
    ...examples.filter((name) => name.endsWith('.md')).map((name) => `examples/${name}`),
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'README.md',
  ];
  return [...new Set([...first, ...all.sort()])];
}
