import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { findOrInstall } from '../support/processes/debian-package.ts';

const run = promisify(execFile);

it.each([
  ['check', 'config', 'deploy/prometheus/prometheus.yml'],
  ['test', 'rules', 'deploy/prometheus/alerts.test.yml'],
])(
  'promtool %s %s %s succeeds',
  async (...args) => {
    const promtool = await findOrInstall('prometheus', async () => {
      await run('promtool', ['--version']);
      return 'promtool';
    });
    expect((await run(promtool, args)).stdout).toContain('SUCCESS');
  },
  300_000,
);
