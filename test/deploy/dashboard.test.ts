import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const override = z.object({
  matcher: z.object({ options: z.string() }),
  properties: z.array(z.object({ id: z.string(), value: z.unknown() })),
});
const panel = z.object({
  title: z.string(),
  fieldConfig: z
    .object({ defaults: z.object({ unit: z.string() }), overrides: z.array(override) })
    .optional(),
  targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
});

test('each rate on the dashboard is shown per second, also beside durations', () => {
  const file: unknown = JSON.parse(readFileSync('deploy/grafana/dashboards/order-screening.json', 'utf8'));
  const { panels } = z.object({ panels: z.array(panel) }).parse(file);
  const units = panels.flatMap(({ fieldConfig, targets }) =>
    targets.flatMap(({ expr, legendFormat }) => {
      if (!/^sum[^/]*\(rate\([^/]*$/.test(expr)) return [];
      const own = fieldConfig?.overrides.find(({ matcher }) => matcher.options === legendFormat);
      const unit = own?.properties.find(({ id }) => id === 'unit')?.value;
      return [[expr, unit ?? fieldConfig?.defaults.unit]];
    }),
  );
  expect(units.length).toBeGreaterThan(5);
  expect(units.filter(([, unit]) => unit !== 'ops' && unit !== 'reqps')).toEqual([]);
});
