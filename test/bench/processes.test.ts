import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { canMeasureProcesses, cpuSeconds } from '../../bench/measure/processes.ts';

const BUSY =
  "while (process.cpuUsage().user < 200_000); process.stdout.write('done'); setInterval(() => undefined, 1_000);";

it.runIf(canMeasureProcesses)('counts the CPU time of a process, alone and as a process group', async () => {
  const child = spawn(process.execPath, ['-e', BUSY], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    expect(cpuSeconds([pid])).toBeGreaterThanOrEqual(0.15);
    expect(cpuSeconds([-pid])).toBeGreaterThanOrEqual(0.15);
    expect(cpuSeconds([])).toBe(0);
  } finally {
    child.kill();
  }
});
