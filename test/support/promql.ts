import { parser } from '@prometheus-io/lezer-promql';

/** A metric that an expression asks for, with the labels that it is chosen by. */
export interface MetricUse {
  metric: string;
  labels: string[];
}

/**
 * Reads an expression of Prometheus.
 * @returns the metrics that it asks for, and the labels that it groups by
 * @throws Error when the expression can't be read
 */
export function readPromql(expression: string): { uses: MetricUse[]; grouping: string[] } {
  const uses: MetricUse[] = [];
  const grouping: string[] = [];
  let inGrouping = false;
  parser.parse(expression).iterate({
    enter: ({ type, name, from, to }) => {
      const text = expression.slice(from, to);
      if (type.isError) throw new Error(`not PromQL at ${from}: ${expression}`);
      if (name === 'VectorSelector') uses.push({ metric: '', labels: [] });
      if (name === 'GroupingLabels') inGrouping = true;
      const use = uses.at(-1);
      if (name === 'Identifier' && use?.metric === '') use.metric = text;
      if (name !== 'LabelName') return;
      if (inGrouping) grouping.push(text);
      else use?.labels.push(text);
    },
    leave: ({ name }) => {
      if (name === 'GroupingLabels') inGrouping = false;
    },
  });
  return { uses, grouping };
}

/** @returns the label names of every sample in what a process exports, by the sample's name */
export function readExport(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, metric, written = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    if (metric === undefined) continue;
    const labels = found.get(metric) ?? new Set();
    for (const [, label = ''] of written.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label);
    found.set(metric, labels);
  }
  return found;
}
