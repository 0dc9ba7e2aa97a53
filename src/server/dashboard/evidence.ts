/** What the screening service found about an order, for and against it. */
import type { OrderState } from '../../contract/order/state.ts';
import type { Insight, Insights } from '../../contract/terms.ts';

/** The groups of insights, the most telling one first. Risk is against the order, trust for it. */
const GROUPS = ['risk', 'recommendation', 'neutral', 'trust'] as const;
const IMPACTS = ['high', 'medium', 'low'];

/** An insight with the reading that had it first. `isNew`: that is the newest reading, and there are others. */
export type Evidence = ReturnType<typeof evidenceOf>[number];

/**
 * @returns the insights of the newest reading that has any, by group, highest impact first. A recommendation only until the next reading,
 * or a person's decision
 */
export function evidenceOf({ attempts }: OrderState) {
  const current = attempts.at(-1);
  const isAdvised = current?.override === undefined && current?.readings.at(-1)?.insights !== undefined;
  const readings = attempts.flatMap(({ number: attempt, readings }) =>
    readings.flatMap(({ insights, at, source }) =>
      insights === undefined ? [] : [sorted(insights).map((one) => ({ ...one, at, source, attempt }))],
    ),
  );
  const newest = readings.at(-1) ?? [];
  const all = readings.flat();
  const valid = newest.filter(({ group }) => isAdvised || group !== 'recommendation');
  return valid.map((one) => {
    const same = ({ group, description, name }: typeof one) =>
      group === one.group && description === one.description && name === one.name;
    const first = all.find(same) ?? one;
    const { at, source, attempt } = first;
    return { ...one, at, source, attempt, isNew: readings.length > 1 && newest.includes(first) };
  });
}

function sorted(insights: Insights) {
  const weight = ({ impact = 'low' }: Insight) => IMPACTS.indexOf(impact);
  return GROUPS.flatMap((group) =>
    Object.values(insights[group] ?? {})
      .sort((a, b) => weight(a) - weight(b))
      .map((insight) => ({ ...insight, group })),
  );
}

export function insightWords({ description, name }: Insight): string {
  return description ?? name ?? 'no description';
}
