import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

/** Prometheus' own tool, installed by apt-get as root where it is missing. */
async function promtool(...args: string[]): Promise<string> {
  const installed = await run('promtool', ['--version']).then(
    () => true,
    () => false,
  );
  if (!installed) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await run('apt-get', ['-qq', 'update'], { env });
    await run('apt-get', ['-qq', 'install', '-y', '--no-install-recommends', 'prometheus'], { env });
    // The package starts a server of its own where it may: nobody asked for that.
    await run('service', ['prometheus', 'stop']).catch(() => undefined);
  }
  return (await run('promtool', args)).stdout;
}

it('Prometheus takes its configuration and the alert rules', async () => {
  expect(await promtool('check', 'config', 'deploy/prometheus/prometheus.yml')).toContain('SUCCESS');
}, 300_000);

it('alerts fire when they should, and only then', async () => {
  expect(await promtool('test', 'rules', 'deploy/prometheus/alerts.test.yml')).toContain('SUCCESS');
}, 60_000);
