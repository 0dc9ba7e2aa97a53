import type { ChaosResult } from '../run-chaos.ts';

const MOST_SUSPECTS = 5;

/** @returns the figures of a run and every anomaly, a line each, and what the first suspects asked and were asked */
export function printed({ figures, faults, anomalies, suspects }: ChaosResult): string {
  const counts = [
    ...Object.entries(figures),
    ...Object.entries(faults).sort(),
    ['anomalies', anomalies.length],
  ];
  const listed = anomalies.map(({ kind, orderId, facts }) => `  ${kind}: ${orderId}: ${facts}`);
  const seen = suspects.slice(0, MOST_SUSPECTS).flatMap(({ evidence: { plan, diary }, books }) => {
    const noted = [...diary.calls, ...(books?.requests ?? [])].sort((a, b) => a.sentAt - b.sentAt);
    return [`  ${plan.orderId}:`, ...noted.map((one) => `    ${JSON.stringify(one)}`)];
  });
  const figureLines = counts.map(([what, count]) => `${String(count).padStart(6)}  ${what}`);
  return [...figureLines, ...listed, ...seen].join('\n');
}
