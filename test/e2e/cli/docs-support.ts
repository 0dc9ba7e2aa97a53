/** What the pages are run against: one `npm start`, at ports of its own, and a shell in which the pages' words fit it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findTemporalBinary } from '../../../src/dev/temporal-binary.ts';
import { makePackage } from '../../../tools/package/make-package.ts';
import { eventually, freePort, spawnProcess } from '../../support/index.ts';
import { ROOT } from '../../support/pages.ts';

/** A first start may have to build the Temporal server. */
export const FIRST_START_MS = 600_000;
/** A block that takes longer hangs. */
const BLOCK_MS = 50_000;
const EVENTS_SECRET = `whsec_${Buffer.from('a secret of the pages that are run').toString('base64')}`;

/** The ports that the pages name. */
const PORTS = {
  TEMPORAL_PORT: '7233',
  TEMPORAL_UI_PORT: '8233',
  API_PORT: '8080',
  SANDBOX_PORT: '8090',
  METRICS_PORT: '9464',
  PORT: '3000',
};

export interface DocsStack {
  apiUrl: string;
  /** @returns a page's words with the addresses and files of this stack */
  local: (text: string) => string;
  /** Runs commands of a page to their end. @returns all they wrote @throws Error when one fails */
  run: (commands: string, how?: { asShown?: boolean }) => Promise<string>;
  /** Starts a command of a page that goes on, until the stack is stopped. */
  serve: (commands: string, ready: RegExp) => Promise<void>;
  /** @returns what the compiler says against modules that import as if they stood in the project's folder */
  typeCheck: (modules: Record<string, string>) => Promise<string>;
  /** Runs a module as above. @returns what it wrote */
  runTypeScript: (text: string) => Promise<string>;
  stop: () => Promise<void>;
}

/** @returns a terminal's output with times, ids and counts alike, and frames and spaces as nothing */
export function masked(output: string): string {
  return output
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '<time>')
    .replaceAll(/\d+ of \d+/g, '<n> of <n>')
    .replaceAll(/[─│┌┬┐├┼┤└┴┘\s]+/g, ' ')
    .trim();
}

export async function startDocsStack(): Promise<DocsStack> {
  const dataDir = await mkdtemp(join(tmpdir(), 'order-screening-docs-'));
  // Modules are found from here as from the project's folder.
  const modulesDir = await mkdtemp(join(ROOT, 'node_modules', '.docs-'));
  await writeFile(join(modulesDir, 'package.json'), '{"type":"module"}');
  await makePackage(ROOT, join(modulesDir, 'node_modules', 'order-screening'));
  const ports = Object.fromEntries(
    await Promise.all(Object.keys(PORTS).map(async (name) => [name, String(await freePort())] as const)),
  );
  const events = {
    EVENTS_URL: `http://127.0.0.1:${ports.PORT}/events`,
    EVENTS_SECRETS: EVENTS_SECRET,
    EVENTS_SECRET,
  };
  const shared = { ...ports, DATA_DIR: dataDir };
  const stack = await spawnProcess('src/start.ts', {
    env: { ...shared, ...events },
    readyWhen: /Stop with Ctrl-C/,
    readyWithinMs: FIRST_START_MS,
  });
  const sandbox = `http://127.0.0.1:${ports.SANDBOX_PORT}`;
  const bin = join(dataDir, 'bin');
  await temporalIn(bin, String(ports.TEMPORAL_PORT));
  const env = {
    ...process.env,
    ...shared,
    ...events,
    PATH: `${bin}:${process.env.PATH}`,
    NO_COLOR: '1',
    npm_config_loglevel: 'error',
    WELCOME: (stack.output().match(/^ {2}curl .*$/gm) ?? []).join('\n'),
  };
  const besideNpmStart = {
    SCREENING_BASE_URL: `${sandbox}/test`,
    SCREENING_PORTAL_BASE_URL: `${sandbox}/portal/api/v1/transaction-update`,
  };
  const served: ChildProcess[] = [];

  const local = (text: string): string =>
    Object.entries(PORTS).reduce(
      (words, [name, port]) => words.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${ports[name]}`),
      text.replaceAll('.data/', `${dataDir}/`),
    );
  const bash = async (script: string, more: NodeJS.ProcessEnv = {}): Promise<string> => {
    const run = promisify(execFile);
    const options = { cwd: ROOT, env: { ...env, ...more }, timeout: BLOCK_MS };
    try {
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${script}`], options);
      return stdout;
    } catch (error) {
      const output = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
      throw new Error(`${script}\nfailed, and wrote:\n${output}`, { cause: error });
    }
  };
  return {
    apiUrl: `http://127.0.0.1:${ports.API_PORT}`,
    local,
    run: async (commands, { asShown = false } = {}) => {
      const script = local(commands);
      // A terminal is what makes it write words; and a page shows commands that fail.
      const shown = `set +e\n${script.replaceAll(/npx order-screening [\w-]+/g, '$& --table')}\ntrue`;
      return bash(asShown ? shown : script);
    },
    serve: async (commands, ready) => {
      const script = local(commands).replace(/^node /m, 'exec node ');
      const child = spawn('bash', ['-euo', 'pipefail', '-c', `exec 2>&1\n${script}`], { cwd: ROOT, env });
      served.push(child);
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      await eventually(() => ready.test(output), { timeoutMs: BLOCK_MS }).catch((cause: unknown) => {
        throw new Error(`${script}\nis not ready; it wrote:\n${output}`, { cause });
      });
    },
    typeCheck: async (modules) => {
      const files = Object.keys(modules).map((name) => `${name}.ts`);
      for (const [name, text] of Object.entries(modules))
        await writeFile(join(modulesDir, `${name}.ts`), atRoot(text));
      await writeFile(
        join(modulesDir, 'tsconfig.json'),
        JSON.stringify({
          extends: join(ROOT, 'tsconfig.json'),
          compilerOptions: {
            noUnusedLocals: false,
            rewriteRelativeImportExtensions: false,
            typeRoots: [join(ROOT, 'node_modules/@types')],
          },
          include: [],
          files,
        }),
      );
      return bash(`npx tsc -p ${modulesDir} || true`);
    },
    runTypeScript: async (text) => {
      const file = join(modulesDir, 'sample.ts');
      // A connection keeps a process alive.
      await writeFile(file, `${atRoot(local(text))}\nprocess.exit(0);\n`);
      return bash(`PAYLOAD_KEYS=$(cat ${dataDir}/payload-keys) node --import tsx ${file}`, besideNpmStart);
    },
    stop: async () => {
      for (const one of served) one.kill('SIGKILL');
      await stack.stop();
      await Promise.all([dataDir, modulesDir].map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}

/** Puts a `temporal` into a folder that talks to this stack, as it does to another one by default. */
async function temporalIn(bin: string, port: string): Promise<void> {
  const path = await findTemporalBinary();
  await mkdir(bin);
  const file = join(bin, 'temporal');
  await writeFile(file, `#!/bin/sh\nexec '${path}' "$@" --address 127.0.0.1:${port}\n`);
  await chmod(file, 0o755);
}

/** @returns a sample that stands in the project's folder */
function atRoot(text: string): string {
  return text.replaceAll("'./", `'${ROOT}`);
}
