/** The worker as it is, but that it holds ten orders in its cache: nearly every task of another order has to be replayed first. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';

const CACHED_ORDERS = 10;

const create = Worker.create.bind(Worker);
Worker.create = (options) =>
  create(options.workflowBundle === undefined ? options : { ...options, maxCachedWorkflows: CACHED_ORDERS });

const worker = new URL('../../../src/worker.ts', import.meta.url);
// It starts only where it is the script that Node was told to run.
process.argv[1] = fileURLToPath(worker);
await import(worker.href);
