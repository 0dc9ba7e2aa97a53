/** The worker of the floor and of the plain way, with the slots, the cache size and the shared modules of order-screening's worker. */
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import fetch from 'node-fetch';
import { bareCreate } from '../service.ts';
import type { FloorActivities, FloorInput } from './workflows.ts';

const workflowsPath = fileURLToPath(import.meta.resolve('./workflows.ts'));
/** Concurrent tasks, and workflows in the cache, as in `src/worker.ts`. */
const SLOTS = 500;

const { TEMPORAL_ADDRESS: address = '', TEMPORAL_NAMESPACE: namespace = '' } = process.env;
const { TASK_QUEUE: taskQueue = '', SERVICE_URL = '' } = process.env;
const agent = new http.Agent({ keepAlive: true, timeout: 4_000 });

const activities: FloorActivities = {
  async callService({ orderId, transaction }: FloorInput) {
    const response = await fetch(`${SERVICE_URL}/transaction`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bareCreate(orderId, transaction)),
      agent,
    });
    if (!response.ok) throw new Error(`the screening service returned ${response.status}`);
    const { decision } = Object(await response.json());
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
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => worker.shutdown());
console.log('worker is ready');
await worker.run();
await connection.close();
