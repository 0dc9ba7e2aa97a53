/** The figures as a table. */
import Table from 'cli-table3';
import { type Figure, ratioWords } from './figures.ts';

const PLAIN = { head: [], border: [], compact: true };

/** @returns the printable table; the column `met?` says `met` or `not met` for each target */
export function tableOf(figures: readonly Figure[]): string {
  const table = new Table({
    head: ['part', 'figure', 'unit', 'ours', 'floor', '÷ floor', 'target', 'met?'],
    colAligns: ['left', 'left', 'left', 'right', 'right', 'right', 'left', 'left'],
    style: PLAIN,
  });
  for (const figure of figures) {
    table.push([
      figure.part,
      figure.name,
      figure.unit,
      rounded(figure.value),
      rounded(figure.floor),
      ratioWords(figure.toFloor),
      figure.targets.map(({ words }) => words).join('\n'),
      figure.targets.map(({ met }) => (met ? 'met' : 'not met')).join('\n'),
    ]);
  }
  const notes = figures.flatMap(({ name, note }) => (note === undefined ? [] : [`${name}: ${note}`]));
  return [table.toString(), ...new Set(notes)].join('\n');
}

function rounded(value: number | undefined): string {
  if (value === undefined) return '';
  return Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toFixed(Number.isInteger(value) ? 0 : 2);
}
