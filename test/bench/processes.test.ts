import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import {
  canMeasureProcesses,
  cpuSeconds,
  cpuSince,
  familyCpuSeconds,
} from '../../bench/measure/processes.ts';

const BUSY = 'while (process.cpuUsage().user < 300_000);';
const PARENT = `
  const { spawnSync } = require('node:child_process');
  spawnSync(process.execPath, ['-e', ${JSON.stringify(BUSY)}]);
  process.stdout.write('done');
  setInterval(() => undefined, 1_000);
`;

it.runIf(canMeasureProcesses)(
  'counts the CPU of a process’s children, of those that have ended, too',
  async () => {
    const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(parent.stdout, 'data');
      const pid = parent.pid ?? 0;
      expect((familyCpuSeconds(pid) ?? 0) - (cpuSeconds([pid]) ?? 0)).toBeGreaterThanOrEqual(0.1);
    } finally {
      parent.kill();
    }
  },
);

it.runIf(canMeasureProcesses)(
  'tells the CPU that each group has used since, and leaves out one without processes',
  () => {
    const spent = cpuSince({ own: [process.pid], nobody: [] });
    const end = Date.now() + 100;
    while (Date.now() < end);
    expect([...spent().keys()]).toEqual(['own']);
    expect(spent().get('own')).toBeGreaterThan(0);
    expect(spent().get('own')).toBeLessThan(cpuSeconds([process.pid]) ?? 0);
  },
);
