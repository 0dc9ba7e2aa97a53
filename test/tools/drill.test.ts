import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { DRILLS } from '../../tools/drill/drills.ts';
import { realAddresses, withoutSettings } from '../../tools/drill/environment.ts';
import { readLine, showLine } from '../../tools/drill/log-lines.ts';
import { play } from '../../tools/drill/play.ts';

const rules = readFileSync('deploy/prometheus/alerts.yml', 'utf8');
const operations = readFileSync('docs/operations.md', 'utf8');

describe.each(DRILLS)('the drill $name', ({ alert, counted }) => {
  it('names an alert that there is, which operators are told what to do at, and counts what it counts', () => {
    const [, rule = ''] = rules.split(`- alert: ${alert}\n`);
    const [metric = 'none'] = /[a-z_]+/.exec(counted.sample.source) ?? [];
    expect(rule.split('- alert:')[0]).toContain(metric.replace(/\\?_count$/, ''));
    expect(operations).toContain(`| \`${alert}\` |`);
  });
});

describe('a shell that is set up for something real', () => {
  it.each(['SCREENING_BASE_URL', 'SCREENING_CONFIG', 'TEMPORAL_ADDRESS', 'EVENTS_URL', 'CARD_STASH_URL'])(
    'with %s is refused before anything is started',
    async (name) => {
      const said: string[] = [];
      const options = {
        env: { [name]: 'orders.example:7233' },
        progress: { say: (line: string) => said.push(line), tick: () => undefined },
        say: (line: string) => said.push(line),
        untilMended: async () => undefined,
      };
      for (const drill of DRILLS) await expect(play(drill, options)).rejects.toThrow(`where ${name} is set`);
      expect(said).toEqual([]);
    },
  );

  it('is none with ports and a log level, and one that is empty is not set', () => {
    expect(realAddresses({ API_PORT: '8080', LOG_LEVEL: 'info', TEMPORAL_ADDRESS: '' })).toEqual([]);
  });

  it('hands no setting down, and all else', () => {
    const env = {
      PATH: '/bin',
      API_KEYS: 'a:b',
      TEMPORAL_TLS_KEY: 'x',
      SCREENING_KEY_OF_MINE: 'x',
      PAYLOAD_KEYS: 'x',
    };
    expect(withoutSettings(env)).toEqual({ PATH: '/bin' });
  });
});

test('a line is shown by its words, what it says beside them, and without frames', () => {
  const text = JSON.stringify({
    level: 40,
    time: Date.parse('2026-03-04T10:00:00Z'),
    pid: 1,
    hostname: 'h',
    name: 'worker',
    orderId: '1001',
    err: { type: 'Error', frames: ['at x'] },
    msg: 'it failed',
  });
  const line = readLine('worker v1', `${text}`, 0);
  expect(showLine(line)).toBe('10:00:00 worker v1 warn it failed orderId=1001 err={"type":"Error"}');
  expect(showLine(readLine('API', 'no JSON', 0))).toBe('00:00:00 API no JSON');
});
