/** Figures with their ratios to the floor, and whether they meet their targets. */
import { median } from './measure/statistics.ts';
import type { Sizes } from './sizes.ts';

export const PARTS = ['decision', 'throughput', 'history', 'memory', 'pages'] as const;
export type Part = (typeof PARTS)[number];

/** What every part of the bench is given. */
export interface BenchContext {
  sizes: Sizes;
  /** Address of a running Temporal server to measure; absent: the bench starts one. */
  address?: string;
  /** Reports progress. */
  say: (words: string) => void;
}

/** A limit. `against` names the divisor of the value; `itself` means no division. */
export interface Target {
  against: 'floor' | 'itself';
  is: 'at most' | 'at least';
  limit: number;
}

/** Ours ÷ theirs; `low` and `high` over the rounds, where there were several. */
interface Ratio {
  value: number;
  low?: number;
  high?: number;
}

/** @returns the ratio in words, with the lowest and the highest round */
export function ratioWords(ratio: Ratio | undefined): string {
  if (ratio === undefined) return '';
  const { value, low, high } = ratio;
  const span = low === undefined || high === undefined ? '' : ` (${low.toFixed(2)} to ${high.toFixed(2)})`;
  return `${value.toFixed(2)}${span}`;
}

export interface Figure {
  part: Part;
  name: string;
  unit: string;
  value: number;
  floor?: number | undefined;
  toFloor?: Ratio | undefined;
  targets: { words: string; met: boolean }[];
  note?: string | undefined;
}

/** One number, or one per round, whose median is the figure. Absent if this system can't measure it. */
type Measured = number | readonly number[] | undefined;

export interface FigureInput extends Pick<Figure, 'part' | 'name' | 'unit' | 'note'> {
  value: Measured;
  floor?: Measured;
  targets?: readonly Target[];
  /** Whether calls failed during the measurement. Then no target is met. */
  failed?: boolean;
}

/**
 * Returns the figure of measured values. The n-th rounds of ours and the floor ran in succession, so each round has a ratio.
 * @returns no figure without a value; targets against missing values are left out
 */
export function figureOf(input: FigureInput): Figure[] {
  const { part, name, unit, targets = [], note, failed = false } = input;
  const value = middle(input.value);
  if (value === undefined) return [];
  const toFloor = ratio(input.value, input.floor);
  const judged = targets.flatMap((target) => judge(target, { itself: value, floor: toFloor?.value }));
  return [
    {
      part,
      name,
      unit,
      value,
      floor: middle(input.floor),
      toFloor,
      targets: judged.map(({ words, met }) => ({ words, met: met && !failed })),
      note,
    },
  ];
}

function judge(
  { against, is, limit }: Target,
  values: { itself: number; floor: number | undefined },
): Figure['targets'] {
  const value = values[against];
  if (value === undefined) return [];
  const sign = is === 'at most' ? '≤' : '≥';
  const words = `${sign} ${limit}${against === 'itself' ? '' : ` × ${against}`}`;
  return [{ words, met: is === 'at most' ? value <= limit : value >= limit }];
}

function middle(measured: Measured): number | undefined {
  if (measured === undefined || typeof measured === 'number') return measured;
  return measured.length === 0 ? undefined : median(measured);
}

/** The ratio of the medians, with the lowest and the highest round. */
function ratio(ours: Measured, theirs: Measured): Ratio | undefined {
  const [upper, lower] = [middle(ours), middle(theirs)];
  if (upper === undefined || lower === undefined || lower <= 0) return undefined;
  const value = upper / lower;
  if (typeof ours === 'number' || typeof theirs === 'number') return { value };
  const rounds = (ours ?? []).flatMap((one, index) => {
    const other = theirs?.[index];
    return other === undefined || other <= 0 ? [] : [one / other];
  });
  return rounds.length < 2 ? { value } : { value, low: Math.min(...rounds), high: Math.max(...rounds) };
}
