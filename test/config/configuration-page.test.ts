import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentedVariables } from '../../src/config/environment.ts';
import { loadConfig } from '../../src/config/index.ts';
import { FALLBACK_POLICY } from '../../src/contract/policy.ts';
import { sandboxEnvironment } from '../../src/sandbox/create-sandbox.ts';
import { least } from './support.ts';

const documented = documentedVariables().map(({ name }) => name);

test('every variable that is read is documented', () => {
  const asked = new Set<string>();
  const get = (target: NodeJS.ProcessEnv, name: string | symbol) => {
    if (typeof name === 'string') asked.add(name);
    return target[String(name)];
  };
  loadConfig(new Proxy<NodeJS.ProcessEnv>({ ...least }, { get }));
  expect(asked.size).toBeGreaterThan(20);
  expect([...asked].filter((name) => !documented.includes(name) && !name.startsWith('TEMPORAL_'))).toEqual(
    [],
  );
});

test('every variable of the sandbox is documented, with its default', () => {
  const defaults: Record<string, unknown> = sandboxEnvironment.parse({});

  for (const name of Object.keys(sandboxEnvironment.shape)) {
    const found = documentedVariables().find((one) => one.name === name);
    expect(found?.readBy, name).toContain('sandbox');
    expect(found?.fallback, name).toBe(defaults[name] === undefined ? undefined : String(defaults[name]));
  }
});

test('the page of the policy file names every key that an order records', () => {
  const page = readFileSync(new URL('../../docs/policy.md', import.meta.url), 'utf8');
  const [, list = ''] = /it records (.+?): a change of these/s.exec(page.replaceAll('\n', ' ')) ?? [];
  const recorded = Object.keys(FALLBACK_POLICY).map((name) => name.replace(/Ms$/, ''));
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(recorded.sort());
});
