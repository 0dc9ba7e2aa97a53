/** What is read of the insights of a reply: what fits the interface, the strongest first, within a number of bytes. */
import { type Insight, type Insights, insightsSchema, weighedInsightSchema } from '../contract/terms.ts';
import { bytesOf } from '../orders/bounds.ts';

import { isObject } from './spellings.ts';

/** Of each text that the service writes freely, in characters. */
export const MAX_FREE_TEXT = 300;
/** Of the insights of one reply, as JSON: they go into the order's history. */
const MAX_INSIGHTS_BYTES = 16 * 1024;
const MAX_INSIGHTS_OF_A_GROUP = 50;

type Group = keyof Insights;

interface Found {
  group: Group;
  index: string;
  insight: Insight;
}

/**
 * Reads what fits the interface, since one odd value says nothing against the others.
 * @returns the strongest insights in their groups, and how many are left out; no insights if the reply has none
 */
export function readInsights(
  given: unknown,
  clean: (text: string) => string,
): { insights?: Insights; leftOut: number } {
  if (!isObject(given)) return { leftOut: 0 };
  const kept: Insights = {};
  const found: Found[] = [];
  let all = 0;
  for (const group of insightsSchema.keyof().options) {
    const inside = given[group];
    if (!isObject(inside)) continue;
    kept[group] = {};
    const readable = Object.entries(inside).filter((entry): entry is [string, Record<string, unknown>] =>
      isObject(entry[1]),
    );
    all += readable.length;
    const isWeighed = group === 'risk' || group === 'trust';
    const strongest = readable
      .map(([index, raw]): Found => ({ group, index, insight: readInsight(raw, isWeighed, clean) }))
      .sort((one, other) => weightOf(one) - weightOf(other))
      .slice(0, MAX_INSIGHTS_OF_A_GROUP);
    found.push(...strongest);
  }
  let count = 0;
  let bytes = bytesOf(kept);
  for (const { group, index, insight } of found.sort((one, other) => weightOf(one) - weightOf(other))) {
    const name = clean(index);
    const added = bytesOf({ [name]: insight });
    if (bytes + added > MAX_INSIGHTS_BYTES) continue;
    bytes += added;
    kept[group] = { ...kept[group], [name]: insight };
    count += 1;
  }
  return { insights: kept, leftOut: all - count };
}

const WEIGHTS = { high: 0, medium: 1, low: 3 } as const;

/** A recommendation comes before what has little weight, and what has none comes last. */
function weightOf({ group, insight: { impact } }: Found): number {
  if (group === 'recommendation') return 2;
  return impact === undefined ? 4 : WEIGHTS[impact];
}

function readInsight(
  { name, description, kind, impact }: Record<string, unknown>,
  isWeighed: boolean,
  clean: (text: string) => string,
): Insight {
  const weight = isWeighed ? weighedInsightSchema.shape.impact.safeParse(impact).data : undefined;
  return {
    ...(typeof name === 'string' && { name: clean(name) }),
    ...(typeof description === 'string' && { description: clean(description) }),
    ...(typeof kind === 'string' && { kind: clean(kind) }),
    ...(weight !== undefined && { impact: weight }),
  };
}
