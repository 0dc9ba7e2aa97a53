import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type LocalStack, startLocalStack } from '../../src/dev/local-stack.ts';
import { userCacheDir } from '../../src/dev/temporal-binary.ts';

// `npm run fuzz:api`: runs Schemathesis against the API, by its OpenAPI document. Starts the whole stack on free ports, with
// the sandbox and an empty data folder; takes about three minutes.

const MAX_SECONDS = 120;
const MAX_EXAMPLES = 100;
const PIP_TIMEOUT_MS = 300_000;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];
const SETTINGS: NodeJS.ProcessEnv = {
  TEMPORAL_PORT: '0',
  TEMPORAL_UI_PORT: '0',
  SANDBOX_PORT: '0',
  API_PORT: '0',
  METRICS_PORT: '0',
  LOG_LEVEL: 'error',
  // Not from the environment, so that the random requests never reach a real screening service or events receiver.
  SCREENING_CONFIG: undefined,
  SCREENING_BASE_URL: undefined,
  EVENTS_URL: undefined,
  API_KEYS: undefined,
  API_HOST: undefined,
  SANDBOX_WEBHOOK_URL: undefined,
};

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** @returns the Python of a virtual environment in the user's cache, with the packages of requirements.txt */
async function pythonWithTools(): Promise<string> {
  const { status } = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)']);
  if (status !== 0) {
    throw new Error(
      'Schemathesis needs Python 3.9 or newer with venv, but PATH has no such python3. Install it, then retry.',
    );
  }
  const requirements = await readFile(file('requirements.txt'), 'utf8');
  const folder = join(userCacheDir(), 'fuzz-api');
  const python = join(folder, 'bin', 'python3');
  const marker = join(folder, 'installed.txt');
  if ((await readFile(marker, 'utf8').catch(() => '')) === requirements) return python;
  console.error(`Installing Schemathesis into ${folder} …`);
  must('python3', ['-m', 'venv', '--clear', folder]);
  must(python, ['-m', 'pip', 'install', '--quiet', '--requirement', file('requirements.txt')]);
  await writeFile(marker, requirements);
  return python;
}

function must(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { timeout: PIP_TIMEOUT_MS, stdio: 'inherit' });
  if (status !== 0) throw error ?? new Error(`${command} ${args.slice(0, 3).join(' ')} failed.`);
}

/** Runs a command with its output on the terminal. @returns its exit code */
function run(command: string, args: string[], cwd: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function fuzz(python: string, folder: string, apiUrl: string): Promise<number> {
  const document = join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${apiUrl}/openapi.json`)).text());
  const invalid = await run(python, ['-m', 'openapi_spec_validator', '--schema', '3.1', document], folder);
  const script = 'from schemathesis.cli import schemathesis; schemathesis()';
  const options = [
    ...['--config-file', file('schemathesis.toml'), 'run', document, '--url', apiUrl],
    ...['--checks', CHECKS.join(','), '--continue-on-failure'],
    ...['--max-time', String(MAX_SECONDS), '--max-examples', String(MAX_EXAMPLES), '--workers', '2'],
    ...['--request-timeout', '15', '--generation-database', 'none', '--warnings', 'off'],
  ];
  const found = await run(python, ['-c', script, ...options], folder);
  return invalid || found;
}

const folder = await mkdtemp(join(tmpdir(), 'fuzz-api-'));
let stack: LocalStack | undefined;
try {
  const python = await pythonWithTools();
  stack = await startLocalStack({ ...process.env, ...SETTINGS, DATA_DIR: join(folder, 'data') });
  process.exitCode = await Promise.race([fuzz(python, folder, stack.apiUrl), stack.broken]);
} catch (error) {
  console.error(error instanceof Error ? error.message : 'The run failed.');
  process.exitCode = 1;
} finally {
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();
