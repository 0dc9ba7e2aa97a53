import type { ChaosResult } from '../run-chaos.ts';

/** @returns the figures of a run and every anomaly, a line each */
export function printed({ figures, faults, anomalies }: ChaosResult): string {
  const counts = [
    ...Object.entries(figures),
    ...Object.entries(faults).sort(),
    ['anomalies', anomalies.length],
  ];
  const listed = anomalies.map(({ kind, orderId, facts }) => `  ${kind}: ${orderId}: ${facts}`);
  return [...counts.map(([what, count]) => `${String(count).padStart(6)}  ${what}`), ...listed].join('\n');
}
