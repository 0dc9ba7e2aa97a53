/** The worker of the floor, with the slots, the cache size and the shared modules of order-screening's worker. */
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { bareCreate } from '../orders.ts';
import { requestJson } from '../stack/request-json.ts';
import type { FloorActivities, FloorInput } from './workflows.ts';

const workflowsPath = fileURLToPath(import.meta.resolve('./workflows.ts'));
/** Concurrent tasks, and workflows in the cache, as in `src/worker.ts`. */
const SLOTS = 500;

const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = process.env;
const { TASK_QUEUE: taskQueue = '', SERVICE_URL = '' } = process.env;

const activities: FloorActivities = {
  async callService(input: FloorInput) {
    const { decision } = Object(await requestJson('POST', `${SERVICE_URL}/transaction`, bareCreate(input)));
    return String(decision);
  },
};

Runtime.install({ shutdownSignals: [] });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowsPath,
  bundlerOptions: { preloadModules: [workflowsPath] },
  activities: { ...activities },
  maxConcurrentWorkflowTaskExecutions: SLOTS,
  maxConcurrentLocalActivityExecutions: SLOTS,
  maxConcurrentActivityTaskExecutions: SLOTS,
  maxCachedWorkflows: SLOTS,
});
console.log('worker is ready');
await worker.run();
