// `npm run setup:temporal`: makes the namespace of the configured Temporal server fit for orders.
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { scheduleSweep } from './sweep-schedule.ts';
import { setupTemporal } from './temporal-namespace.ts';

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
try {
  for (const warning of await setupTemporal(connection, namespace)) console.warn(`Warning: ${warning}`);
  await scheduleSweep(connection, namespace);
  console.log(`Namespace "${namespace}" is set up for orders.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await connection.close();
}
