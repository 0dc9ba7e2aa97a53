/** A figure beside its floor and beside the plain way, and whether it is as good as it must be. */
import { median } from './measure/statistics.ts';

export const PARTS = ['decision', 'throughput', 'history', 'memory', 'start', 'crowds', 'cluster'] as const;
export type Part = (typeof PARTS)[number];
/** All but what needs PostgreSQL, and the server's own build. */
export const USUAL_PARTS: readonly Part[] = PARTS.filter((part) => part !== 'cluster');

/** What must hold. `against` says what the value is divided by; `itself` is the value as it stands. */
export interface Target {
  against: 'floor' | 'plain' | 'itself';
  is: 'at most' | 'at least';
  limit: number;
}

/** Ours ÷ theirs; `low` and `high` over the rounds, where there were several. */
export interface Ratio {
  value: number;
  low?: number;
  high?: number;
}

/** @returns the ratio in words, with what it was from round to round */
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
  floor?: number;
  plain?: number;
  toFloor?: Ratio;
  toPlain?: Ratio;
  targets: { words: string; met: boolean }[];
  note?: string;
}

/** One number, or one for each round: their median is the figure. Absent: it could not be measured here. */
export type Measured = number | readonly number[] | undefined;

export interface FigureInput {
  part: Part;
  name: string;
  unit: string;
  value: Measured;
  floor?: Measured;
  plain?: Measured;
  targets?: readonly Target[];
  note?: string | undefined;
  /** Whether calls failed while it was measured: then no target is met. */
  failed?: boolean;
}

/**
 * Makes a figure of what was measured. The n-th rounds of ours, floor and plain ran one after another, so that a ratio
 * can be given for each.
 * @returns none when there is no value; a target against something that wasn't measured is left out
 */
export function figureOf(input: FigureInput): Figure[] {
  const { part, name, unit, targets = [], note, failed = false } = input;
  const value = middle(input.value);
  if (value === undefined) return [];
  const floor = middle(input.floor);
  const plain = middle(input.plain);
  const toFloor = ratio(input.value, input.floor);
  const toPlain = ratio(input.value, input.plain);
  return [
    {
      part,
      name,
      unit,
      value,
      ...(floor !== undefined && { floor }),
      ...(plain !== undefined && { plain }),
      ...(toFloor && { toFloor }),
      ...(toPlain && { toPlain }),
      targets: targets
        .flatMap((target) => judge(target, { itself: value, floor: toFloor, plain: toPlain }))
        .map(({ words, met }) => ({ words, met: met && !failed })),
      ...(note !== undefined && { note }),
    },
  ];
}

/** @returns whether every target of every figure is met */
export function allMet(figures: readonly Figure[]): boolean {
  return figures.every(({ targets }) => targets.every(({ met }) => met));
}

function judge(
  { against, is, limit }: Target,
  values: { itself: number; floor: Ratio | undefined; plain: Ratio | undefined },
): Figure['targets'] {
  const value = against === 'itself' ? values.itself : values[against]?.value;
  if (value === undefined) return [];
  const sign = is === 'at most' ? '≤' : '≥';
  const words = `${sign} ${limit}${against === 'itself' ? '' : ` × ${against}`}`;
  return [{ words, met: is === 'at most' ? value <= limit : value >= limit }];
}

function middle(measured: Measured): number | undefined {
  if (measured === undefined || typeof measured === 'number') return measured;
  return measured.length === 0 ? undefined : median(measured);
}

/** Of the medians, with the lowest and the highest of the rounds. */
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
