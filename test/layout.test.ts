/** The shape of `src`: which folder may import which, as docs/architecture.md has it, without circles, in files of one subject. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join('src', name));
const lines = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

function importsOf(file: string): string[] {
  const found = (lines.get(file) ?? '').matchAll(
    /^(?:import|export)\s[^;]*?from '(\.[^']+)';|^import '(\.[^']+)';/gm,
  );
  return [...found].map(([, from, effect]) => normalize(join(dirname(file), from ?? effect ?? '')));
}

/** `orders`, or the name of a file that puts things together. */
function roomOf(file: string): string {
  const [, folder = '', inside] = file.split('/');
  return inside === undefined ? file : folder;
}

/** The table under «The layout»: what each room may import. */
function allowed(): Map<string, Set<string>> {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const rows = page.matchAll(/^\| `src\/([\w.-]+)\/?` \|[^|]*\| ([^|]*) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', may = '']) => [
      name.endsWith('.ts') ? `src/${name}` : name,
      new Set([...may.matchAll(/`([\w./-]+)`/g)].map(([, room = '']) => room)),
    ]),
  );
}

/** What is given to the one who calls it when its process starts, and so imported by nobody on the way. */
const GIVEN = new Set(['src/server/api/order-routes.ts']);

describe('the way of a checkout', () => {
  // The table under «The files of a checkout»: each file, and what it is reached from.
  const page = readFileSync('docs/architecture.md', 'utf8');
  const section = page.slice(page.indexOf('### The files of a checkout'), page.indexOf('## The core'));
  const rows = section.matchAll(/^\| `(src\/[^`]+)` \|[^|]*\| `?([^|`]+)`? \|$/gm);
  const way = [...rows].map(([, file = '', from = '']) => ({ file, from }));

  it('leads from file to file by imports, or by their doors, but where it crosses a border', () => {
    expect(way.length).toBeGreaterThan(0);
    const byImport = way.filter(({ file, from }) => from.startsWith('src/') && !GIVEN.has(file));
    for (const { file, from } of byImport) {
      const reached = (imports.get(from) ?? []).flatMap((target) =>
        target.endsWith('/index.ts') ? [target, ...(imports.get(target) ?? [])] : [target],
      );
      expect(reached, `${from} imports ${file}`).toContain(file);
    }
    const names = way.map(({ file }) => file);
    for (const { from } of byImport) expect(names).toContain(from);
  });
});

describe('src', () => {
  it('imports as the arrows of the page point, and every arrow of the page is used', () => {
    const used = new Map([...allowed().keys()].map((room) => [room, new Set<string>()]));
    for (const [file, targets] of imports) {
      for (const target of targets) {
        if (roomOf(target) === roomOf(file)) continue;
        const room = used.get(roomOf(file)) ?? new Set();
        used.set(roomOf(file), room.add(roomOf(target)));
      }
    }
    const sorted = (rooms: Map<string, Set<string>>) =>
      Object.fromEntries([...rooms].map(([room, may]) => [room, [...may].sort()]));
    expect(sorted(used)).toEqual(sorted(allowed()));
  });

  it.each([
    [
      'uses nothing of the inside of the SDK',
      /from '@temporalio\/[^']*\/lib\/|\bprepareStackTrace\b|__TEMPORAL_|webpackConfigHook/,
    ],
    [
      'queries no workflow: a query to an order that a worker does not have in memory can stop it',
      /\bdefineQuery\b|\bqueryWorkflow\b|\.query\(|\bQueryDefinition\b|\bqueryRejectCondition\b/,
    ],
    [
      'lists and describes no workflow by the SDK, which fails at a memo that it has no key for',
      /\bworkflow\.list\(|\.describe\(\)/,
    ],
  ])('%s', (_what, unwanted) => {
    expect(files.filter((file) => unwanted.test(lines.get(file) ?? ''))).toEqual([]);
  });

  it('has no circle, types included', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (done.has(file) || path.includes(file)) return;
      for (const target of imports.get(file) ?? []) visit(target, [...path, file]);
      done.add(file);
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });
});
