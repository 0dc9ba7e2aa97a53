/** Writes `docs/performance.md` from the kept results: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capacityFor, capacityRows, USUAL_LOAD } from './capacity.ts';
import { PARTS, type Part, ratioWords } from './figures.ts';
import { type KeptFigure, type KeptResult, newestOfEach } from './kept.ts';
import { newestMeasured } from './measured.ts';

const RESULTS = join(import.meta.dirname, 'results');
const LOADS = [1, 100, 10_000];

/** What each part is about, in the order of the page. */
const ABOUT: Record<Part, { title: string; words: string }> = {
  decision: {
    title: 'Decision time',
    words:
      'What is added to the service’s own time, at a constant rate of 10 orders a second. The fast path is `npm run serve`: API and worker in one process.',
  },
  throughput: {
    title: 'Throughput',
    words:
      'Callers that ask again as soon as they are answered, on the cores that the server and the service use, too.',
  },
  history: {
    title: 'History',
    words:
      'Of an order over its whole life, by the client library, with an events receiver. A transition is a transaction of the server’s database.',
  },
  memory: { title: 'Memory', words: 'Of a worker, for 1,000 open orders, once its garbage was collected.' },
  start: { title: 'Start', words: 'Of processes.' },
  crowds: {
    title: 'Crowds',
    words: 'Checkouts by the HTTP API while thousands of orders are polled, beside checkouts without them.',
  },
  cluster: {
    title: 'PostgreSQL',
    words:
      'One load on Temporal’s server with PostgreSQL, with the settings of `deploy/temporal/` and without each of them.',
  },
};

/** @returns the page, in Markdown */
export async function performancePage(folder = RESULTS): Promise<string> {
  const newest = await newestOfEach(folder);
  const parts = PARTS.flatMap((part) => {
    const result = newest.get(part);
    if (result === undefined) return [];
    return [{ part, result, figures: result.figures.filter((one) => one.part === part) }];
  });
  const sections = [
    `# Performance

Made by \`npm run docs\` from \`bench/results/\`, which \`npm run bench\` fills. What floor and plain way are is said
[there](../bench/results/README.md). Compare ratios, not milliseconds: those move from machine to machine. Why a target isn't met
is said in [scaling.md](scaling.md).`,
    `## What must hold

${markdown(['figure', 'ours', 'floor', 'plain', 'target', ''], targetRows(parts.flatMap(({ figures }) => figures)))}`,
    ...parts.map(({ part, result, figures }) =>
      [
        `## ${ABOUT[part].title}`,
        `${ABOUT[part].words} ${measuredAt(result)}`,
        tableOf(part, figures),
        ...notes(figures),
      ].join('\n\n'),
    ),
    `## What a load needs

By \`npm run simulate\`, for so many orders a second on average, three times as many at the peak, with the default policy, 5% reviews of
eight hours and a service that takes a second.

${await capacityTable(folder)}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

function measuredAt({ startedAt, commit, machine }: KeptResult): string {
  const { cpus, memoryGb, platform, node } = machine;
  return `Measured ${startedAt.slice(0, 10)} at commit ${commit}, on ${cpus} cores with ${memoryGb} GB, ${platform}, Node ${node}.`;
}

function targetRows(figures: readonly KeptFigure[]): string[][] {
  return figures
    .filter(({ targets }) => targets.length > 0)
    .flatMap(({ name, unit, value, floor, plain, targets }) =>
      // Two may ask for the same: so many steps, and no more than with fewer polls.
      [...new Map(targets.map((target) => [target.words, target])).values()].map(({ words, met }) => [
        `${name} (${unit})`,
        rounded(value),
        rounded(floor),
        rounded(plain),
        words,
        met ? 'met' : '**not met**',
      ]),
    );
}

function tableOf(part: Part, figures: readonly KeptFigure[]): string {
  return part === 'history' ? byUnit(figures) : byFigure(figures);
}

function byFigure(figures: readonly KeptFigure[]): string {
  const rows = figures.map(({ name, unit, value, floor, plain, toFloor, toPlain }) => [
    name,
    unit,
    rounded(value),
    rounded(floor),
    rounded(plain),
    ratioWords(toFloor),
    ratioWords(toPlain),
  ]);
  const heads = ['figure', 'unit', 'ours', 'floor', 'plain', '÷ floor', '÷ plain'];
  const used = heads.map((_, column) => rows.some((row) => row[column] !== ''));
  const only = (row: readonly string[]) => row.filter((_, column) => used[column]);
  return markdown(only(heads), rows.map(only));
}

/** Figures with several units each: a column for each. */
function byUnit(figures: readonly KeptFigure[]): string {
  const units = [...new Set(figures.map(({ unit }) => unit))];
  const names = [...new Set(figures.map(({ name }) => name))];
  const rows = names.map((name) => [
    name,
    ...units.map((unit) => rounded(figures.find((one) => one.name === name && one.unit === unit)?.value)),
  ]);
  return markdown(['', ...units], rows);
}

async function capacityTable(folder: string): Promise<string> {
  const measured = await newestMeasured(folder);
  const columns = LOADS.map((ordersPerSecond) =>
    capacityRows(capacityFor({ ...USUAL_LOAD, ordersPerSecond }, measured)),
  );
  const rows = (columns[0] ?? []).map(([name], row) => [name, ...columns.map((one) => one[row]?.[1] ?? '')]);
  return markdown(['orders a second', ...LOADS.map((load) => load.toLocaleString('en-US'))], rows);
}

function notes(figures: readonly KeptFigure[]): string[] {
  const told = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`- ${name}: ${note}.`]));
  return told.length === 0 ? [] : [[...new Set(told)].join('\n')];
}

function markdown(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const marks = heads.map((_, column) => (column === 0 ? '---' : '---:'));
  return [line(heads), line(marks), ...rows.map(line)].join('\n');
}

function rounded(value: number | undefined): string {
  if (value === undefined) return '';
  const digits = Number.isInteger(value) || Math.abs(value) >= 1_000 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(fileURLToPath(new URL('../docs/performance.md', import.meta.url)), await performancePage());
}
