import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const { groups } = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            labels: z.object({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.object({ summary: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(readFileSync('deploy/prometheus/alerts.yml', 'utf8')));
const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

test('docs/operations.md says what to do at each alert, in the order of the rules', () => {
  const page = readFileSync('docs/operations.md', 'utf8');

  expect([...page.matchAll(/^\| `(OrderScreening\w+)` \|/gm)].map(([, alert]) => alert)).toEqual(alerts);
});

test('an alert has a name of its own', () => {
  expect(new Set(alerts).size).toBe(alerts.length);
});
