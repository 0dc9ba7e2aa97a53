/** `npm run setup:temporal`: sets up the namespace for orders, and makes the configured version of the workers current. */
import { Connection } from '@temporalio/client';
import { loadTemporalSettings, loadWorkerVersion, unreachableTemporal } from '../config/index.ts';
import { makeCurrent } from './current-version.ts';
import { registerNamespace, setupTemporal, startSweep } from './namespace.ts';

async function setUp(): Promise<void> {
  const { connection: options, namespace } = loadTemporalSettings(process.env);
  const version = loadWorkerVersion(process.env);
  const connection = await Connection.connect(options).catch((cause: unknown) => {
    throw new Error(unreachableTemporal(options), { cause });
  });
  try {
    if (await registerNamespace(connection, namespace)) {
      console.log(`Namespace "${namespace}" was created.`);
    }
    for (const warning of await setupTemporal(connection, namespace)) console.warn(`Warning: ${warning}`);
    await startSweep(connection, namespace);
    console.log(`Namespace "${namespace}" is set up for orders.`);
    if (version === undefined) return;
    const before = await makeCurrent(connection, namespace, version);
    const instead = before === undefined ? '' : ` in place of "${before}"`;
    console.log(
      `Build "${version.buildId}" of worker deployment "${version.deploymentName}" is current${instead}.`,
    );
  } finally {
    await connection.close();
  }
}

setUp().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
