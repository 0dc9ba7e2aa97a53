import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const rule = z.object({
  alert: z.string(),
  labels: z.object({ severity: z.enum(['critical', 'warning']) }),
  annotations: z.object({ summary: z.string() }),
});
const rulesFile = z.object({ groups: z.array(z.object({ rules: z.array(rule) })) });

test('each alert has a name of its own, and docs/operations.md says what to do at it, in the order of the rules', () => {
  const { groups } = rulesFile.parse(parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')));
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  const page = readFileSync('docs/operations.md', 'utf8');
  expect([...page.matchAll(/^\| `(OrderScreening\w+)` \|/gm)].map(([, alert]) => alert)).toEqual(alerts);
  expect(new Set(alerts).size).toBe(alerts.length);
});
