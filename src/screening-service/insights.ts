/** Reads the insights of a reply: well-formed ones, strongest first, within a size limit. */
import { type Insight, type Insights, insightsSchema, weighedInsightSchema } from '../contract/terms.ts';
import { isRecord } from '../contract/values.ts';
import { bytesOf } from '../order/bounds.ts';
import { defined } from '../order/defined.ts';

/** Limit of each free text of the screening service, in characters. */
export const MAX_FREE_TEXT = 300;
/** Limit of a reply's insights as JSON, since they are stored in the order's history. */
const MAX_INSIGHTS_BYTES = 16 * 1024;
const MAX_INSIGHTS_OF_A_GROUP = 50;
const GROUPS = insightsSchema.keyof().options;

type Group = keyof Insights;

interface Found {
  group: Group;
  index: string;
  insight: Insight;
}

/**
 * Reads the well-formed insights and ignores malformed ones.
 * @returns the strongest insights by group, and how many are left out; `insights` is undefined if the reply has none
 */
export function readInsights(
  given: unknown,
  clean: (text: string) => string,
): { insights?: Insights; leftOut: number } {
  if (!isRecord(given)) return { leftOut: 0 };
  const insights: Insights = {};
  const found: Found[] = [];
  for (const group of GROUPS) {
    const inside = given[group];
    if (!isRecord(inside)) continue;
    insights[group] = {};
    for (const [index, raw] of Object.entries(inside)) {
      if (isRecord(raw)) found.push({ group, index: clean(index), insight: readInsight(raw, group, clean) });
    }
  }
  let leftOut = 0;
  let bytes = bytesOf(insights);
  for (const { group, index, insight } of found.sort((one, other) => weightOf(one) - weightOf(other))) {
    const kept = { ...insights[group], [index]: insight };
    const added = bytesOf({ [index]: insight });
    if (bytes + added > MAX_INSIGHTS_BYTES || Object.keys(kept).length > MAX_INSIGHTS_OF_A_GROUP) {
      leftOut += 1;
      continue;
    }
    bytes += added;
    insights[group] = kept;
  }
  return { insights, leftOut };
}

const WEIGHTS = { high: 0, medium: 1, low: 3 } as const;

/** Sort order of insights: recommendations come before insights with low weight, and those without a weight come last. */
function weightOf({ group, insight: { impact } }: Found): number {
  if (group === 'recommendation') return 2;
  return impact === undefined ? 4 : WEIGHTS[impact];
}

function readInsight(
  { name, description, kind, impact }: Record<string, unknown>,
  group: Group,
  clean: (text: string) => string,
): Insight {
  const isWeighed = group === 'risk' || group === 'trust';
  const weight = isWeighed ? weighedInsightSchema.shape.impact.safeParse(impact).data : undefined;
  const text = (value: unknown) => (typeof value === 'string' ? clean(value) : undefined);
  return defined({ name: text(name), description: text(description), kind: text(kind), impact: weight });
}
