import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';
import { assertPortFree } from '../../src/dev/ports.ts';
import { buildTemporal } from '../../src/dev/temporal-binary.ts';
import { eventually, freePort } from '../support/index.ts';
import { POSTGRES_USER, startPostgres } from './postgres.ts';

const run = promisify(execFile);
const DATABASE = { POSTGRES_USER, POSTGRES_PASSWORD: 'not asked for on loopback' };
const DEPLOY = fileURLToPath(new URL('../../deploy/temporal/', import.meta.url));

/** Temporal's server on PostgreSQL, as `docker-compose.yml` has it. */
export interface TemporalCluster {
  address: string;
  /** Where the server serves its own metrics. */
  metricsUrl: string;
  /** Sets the schema up once more, as a later start of the compose file does. */
  setUpSchema(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PostgreSQL, sets its schema up and starts the server, by the files in `deploy/temporal/`. */
export async function startTemporalCluster(): Promise<TemporalCluster> {
  const server = await buildTemporal('temporal-server');
  const sqlTool = await buildTemporal('temporal-sql-tool');
  const folder = await mkdtemp(join(tmpdir(), 'order-screening-cluster-'));
  await symlink(sqlTool, join(folder, 'temporal-sql-tool'));
  const postgres = await startPostgres();
  const setUpSchema = async () => {
    const address = { POSTGRES_HOST: '127.0.0.1', POSTGRES_PORT: `${postgres.port}` };
    const env = { PATH: `${folder}:${process.env.PATH}`, ...DATABASE, ...address };
    await run('sh', [join(DEPLOY, 'setup-schema.sh')], { env });
  };
  await setUpSchema();

  const grpcPort = await freeRange(8);
  const metricsPort = await freePort();
  const address = `127.0.0.1:${grpcPort}`;
  let output = '';
  const args = ['--root', '/', '--config', join(DEPLOY, 'config'), '--env', 'production', '--allow-no-auth'];
  const child = spawn(server, [...args, 'start'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ...DATABASE,
      POSTGRES_ADDRESS: `127.0.0.1:${postgres.port}`,
      NUM_HISTORY_SHARDS: '4',
      TEMPORAL_GRPC_PORT: `${grpcPort}`,
      TEMPORAL_METRICS_ADDRESS: `127.0.0.1:${metricsPort}`,
      TEMPORAL_DYNAMIC_CONFIG: join(DEPLOY, 'dynamic-config.yaml'),
    },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
  }
  const killed = () => child.kill('SIGKILL');
  process.once('exit', killed);
  await eventually(
    async () => {
      const connection = await Connection.connect({ address, connectTimeout: 2_000 });
      await connection.healthService.check({ service: 'temporal.api.workflowservice.v1.WorkflowService' });
      await connection.close();
    },
    { timeoutMs: 60_000, intervalMs: 200 },
  ).catch((error: unknown) => {
    throw new Error(`Temporal's server does not answer; it wrote:\n${output}`, { cause: error });
  });
  return {
    address,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    setUpSchema,
    stop: async () => {
      process.removeListener('exit', killed);
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** @returns the first of so many free ports in a row */
async function freeRange(size: number): Promise<number> {
  const first = 20_000 + Math.floor(Math.random() * 10_000);
  const ports = Array.from({ length: size }, (_, index) => first + index);
  return Promise.all(ports.map((port) => assertPortFree(port, 'TEMPORAL_GRPC_PORT'))).then(
    () => first,
    () => freeRange(size),
  );
}
