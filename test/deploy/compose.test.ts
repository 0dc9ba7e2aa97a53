import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { documentedVariables } from '../../src/config/environment.ts';
import { loadConfig, loadTemporalSettings, loadWorkerVersion } from '../../src/config/index.ts';
import { scratchFolder } from '../dev/fake-commands.ts';

const serviceSchema = z.looseObject({
  image: z.string(),
  build: z.string().optional(),
  restart: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()),
  profiles: z.array(z.string()).default([]),
  ulimits: z.object({ core: z.number() }).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
});
type Service = z.output<typeof serviceSchema>;

const text = readFileSync('docker-compose.yml', 'utf8');
const compose = z
  .looseObject({ services: z.record(z.string(), serviceSchema), volumes: z.record(z.string(), z.unknown()) })
  .parse(parse(text, { merge: true }));
const services = Object.entries(compose.services);
const own = services.filter(([, service]) => service.build !== undefined);
const exampleEnv = readFileSync('deploy/example.env', 'utf8');
const dockerfile = readFileSync('Dockerfile', 'utf8');

const PROCESS_OF: Record<string, 'worker' | 'api' | 'setup' | 'sandbox'> = {
  'src/worker.ts': 'worker',
  'src/api.ts': 'api',
  'src/platform/setup-temporal.ts': 'setup',
  'src/sandbox/main.ts': 'sandbox',
};

function service(name: string): Service {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

/** Another service waits for its end: it does its work once. */
const runsOnce = (name: string) => service(name).restart !== 'unless-stopped';

it.each(services)(
  '%s has one version, and is started, reached and given what it needs as it must be',
  (name, one) => {
    const { build, image, environment, depends_on, ports, volumes, healthcheck } = one;
    if (build === undefined) expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[\w.-]+)?$/);
    else expect(image).toMatch(/^order-screening:\$\{WORKER_BUILD_ID:\?\}$/);
    // What does its work once and ends needs no health check.
    if (runsOnce(name)) expect(['temporal-schema', 'setup', 'promote']).toContain(name);
    else expect(healthcheck).toBeDefined();
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(condition, other).toBe(runsOnce(other) ? 'service_completed_successfully' : 'service_healthy');
    }
    for (const port of ports)
      expect(port, 'reached from this machine only').toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    for (const [from = '', , mode] of volumes.map((volume) => volume.split(':'))) {
      if (!from.startsWith('./')) expect(compose.volumes).toHaveProperty(from);
      else expect([existsSync(from), mode]).toEqual([true, 'ro']);
    }
    const secrets = Object.entries(environment).filter(([variable]) => /PASSWORD|SECRET|KEY/.test(variable));
    for (const [variable, value] of secrets) expect(value, variable).toMatch(/^\$\{\w+:[?-]\}$/);
  },
);

describe.each(own)('%s, a process of ours', (_name, { command: [script = ''] = [], environment }) => {
  it('is given variables that it reads', () => {
    const reader = PROCESS_OF[script];
    const known = documentedVariables().filter(({ readBy }) => readBy.some((one) => one === reader));
    expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it('starts with them, in mode live, too', () => {
    const env = substituted(environment);
    const live = {
      ...env,
      SCREENING_MODE: 'live',
      SCREENING_BASE_URL: 'https://screening.example',
      SCREENING_PORTAL_BASE_URL: 'https://portal.example',
      WEBHOOK_SECRETS: randomBytes(24).toString('hex'),
    };
    const reader = PROCESS_OF[script];
    if (reader === 'worker') expect(loadConfig(env, reader).metrics.host).toBe('0.0.0.0');
    if (reader === 'api') expect(loadConfig(env, reader).api.keys).toHaveLength(1);
    if (reader === 'worker' || reader === 'api') {
      expect(loadConfig(live, reader).allowPlaintext).toHaveLength(2);
    }
    if (reader === 'setup') {
      expect(loadTemporalSettings(env).namespace).toBe('orders');
      expect(loadWorkerVersion(env)?.buildId).toBe(environment.WORKER_BUILD_ID && 'v1');
    }
  });
});

test.each([
  ['temporal', ['api', 'promote', 'setup', 'temporal', 'temporal-ui', 'worker']],
  ['redis', ['api', 'redis', 'worker']],
  ['postgresql', ['postgresql', 'temporal', 'temporal-schema']],
  ['grafana', ['grafana', 'prometheus']],
])('%s is reached by nobody else', (name, expected) => {
  // PostgreSQL's has a row of its own.
  const own = service(name).networks.filter((network) => network !== 'database');
  const of = own.length > 0 ? own : ['database'];
  const reaching = services.filter(([, { networks }]) => networks.some((network) => of.includes(network)));
  expect(reaching.map(([other]) => other).sort()).toEqual(expected);
});

it.each(services)('%s runs without rights that it does not need, and leaves no core dump', (_name, one) => {
  expect(one).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  expect(one.ulimits).toEqual({ core: 0 });
});

test('encrypted payloads and trusted proxies can be required of the containers', () => {
  for (const name of ['api', 'worker'])
    expect(service(name).environment.PAYLOADS_REQUIRED).toMatch(/^\$\{PAYLOADS_REQUIRED:-\}$/);
  expect(service('api').environment.TRUST_PROXY).toMatch(/^\$\{TRUST_PROXY:-\}$/);
});

test('what holds cards or keys in memory leaves no core dump', async () => {
  const cwd = await scratchFolder();
  const killed = `ulimit -c 0 && exec "$0" -e 'globalThis.card = "4012" + "888888881881"; process.abort()'`;
  const aborted = promisify(execFile)('sh', ['-c', killed, process.execPath], { cwd });
  await expect(aborted).rejects.toMatchObject({ signal: 'SIGABRT' });
  expect(await readdir(cwd)).toEqual([]);
});

test('the sandbox and the Temporal UI run only where they are asked for', () => {
  const asked = services.filter(([, { profiles }]) => profiles.length > 0);
  expect(asked.map(([name, { profiles }]) => [name, profiles])).toEqual([
    ['temporal-ui', ['ui']],
    ['sandbox', ['sandbox']],
  ]);
});

test('a service that runs only where it is asked for requires no variable of its own', () => {
  const requiredBy = (some: typeof services) =>
    some.flatMap(([, one]) => [...JSON.stringify(one).matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  const always = requiredBy(services.filter(([, { profiles }]) => profiles.length === 0));
  // Compose fills in the whole file before it selects services.
  expect(requiredBy(services).filter((name) => !always.includes(name))).toEqual([]);
});

test('the queue page links to the Temporal UI only where a person says that it runs', () => {
  const config = loadConfig(substituted(service('api').environment), 'api');
  expect(config.temporalUiUrl).toBeUndefined();
});

test('every variable that is asked of a person is in deploy/example.env, and none else', () => {
  const asked = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const listed = [...exampleEnv.matchAll(/^(\w+)=/gm)].map(([, name]) => name);

  // Docker Compose reads it by itself.
  expect([...new Set([...asked, 'COMPOSE_PROFILES'])].sort()).toEqual(listed.sort());
  expect(exampleEnv).not.toMatch(/^\w+=./m);
});

test('Temporal’s server is given every variable that its configuration has no default for', () => {
  const config = readFileSync('deploy/temporal/config/production.yaml', 'utf8');
  const needed = [...config.matchAll(/(default "[^"]*" \()?env "(\w+)"/g)].flatMap(
    ([, fallback, name = '']) => (fallback === undefined ? [name] : []),
  );

  expect(Object.keys(service('temporal').environment)).toEqual(expect.arrayContaining(needed));
  expect(needed.length).toBeGreaterThan(3);
});

test('the cluster runs the server that is built for tests', () => {
  const version = /go\.temporal\.io\/server v(\S+)/.exec(readFileSync('tools/temporal/go.mod', 'utf8'))?.[1];

  expect(service('temporal').image).toBe(`temporalio/server:${version}`);
  expect(service('temporal-schema').image).toMatch(`temporalio/admin-tools:${version}-`);
});

test('Prometheus asks services that there are, at the ports where they serve metrics', () => {
  const named = z
    .object({ names: z.array(z.string()), port: z.number() })
    .transform(({ names, port }) => names.map((name) => `${name}:${port}`));
  const job = z.object({ dns_sd_configs: z.array(named) }).transform((one) => one.dns_sd_configs.flat());
  const file: unknown = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));
  const { scrape_configs: jobs } = z.object({ scrape_configs: z.array(job) }).parse(file);
  expect(jobs.flat()).toEqual([
    `worker:${service('worker').environment.METRICS_PORT}`,
    `api:${service('api').environment.API_PORT}`,
  ]);
});

test('the image is made in stages, of one version of Node, and runs as a user without rights', () => {
  const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));

  expect(stages).toHaveLength(2);
  expect(new Set(stages).size).toBe(1);
  expect(stages[0]).toMatch(/^node:24\.\d+\.\d+-/);
  expect(last).toMatch(/^USER 1000$/m);
  expect(last).not.toMatch(/npm (ci|install)/);
  // The slim image has none, and the worker needs them for TLS to Temporal.
  expect(last).toMatch(/^RUN apt-get .* ca-certificates /m);
});

test('what the image is made of is let through by .dockerignore', () => {
  const ignore = readFileSync('.dockerignore', 'utf8').split('\n');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = '']) =>
    files.split(' '),
  );

  expect(ignore[0]).toBe('*');
  for (const file of copied) expect(ignore, file).toContain(`!${file}`);
});

/** The environment as Compose makes it of a filled-in `.env`. */
function substituted(environment: Record<string, string>): NodeJS.ProcessEnv {
  const key = () => `first:${randomBytes(32).toString('base64')}`;
  const secret = randomBytes(24).toString('hex');
  const given = { WORKER_BUILD_ID: 'v1', CODEC_TOKEN: secret, API_KEYS: `shop:${secret}` };
  const filled: Record<string, string> = { ...given, CARD_STASH_KEYS: key(), PAYLOAD_KEYS: key() };
  const fill = (_all: string, name: string, operator: string, fallback: string) =>
    filled[name] ?? (operator === '?' ? 'a-value' : fallback);
  const variables = Object.entries(environment);
  return Object.fromEntries(
    variables.map(([name, written]) => [name, written.replaceAll(/\$\{(\w+):([?-])([^}]*)\}/g, fill)]),
  );
}
