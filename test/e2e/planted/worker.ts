/** The worker of that release. Otherwise it is the worker as it is. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { workflowBundle } from '../../../src/platform/workflow-bundle.ts';

const planted = fileURLToPath(new URL('interceptor.ts', import.meta.url));
const bundle = await workflowBundle({ workflowInterceptorModules: [planted] });

const create = Worker.create.bind(Worker);
Worker.create = (options) =>
  create(options.workflowBundle === undefined ? options : { ...options, workflowBundle: bundle });

const worker = new URL('../../../src/worker.ts', import.meta.url);
// It starts only where it is the script that Node was told to run.
process.argv[1] = fileURLToPath(worker);
await import(worker.href);
