/** A release of the worker in whose code every order throws. Otherwise it is the worker as it is. */
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { createDataConverter } from '../../src/codec/index.ts';
import { workflowBundle } from '../../src/temporal/workflow-bundle.ts';

const workflowsPath = fileURLToPath(new URL('failing-workflows.ts', import.meta.url));
const bundle = await workflowBundle({ ...createDataConverter([]), workflowsPath });

const create = Worker.create.bind(Worker);
Worker.create = (options) =>
  create(options.workflowBundle === undefined ? options : { ...options, workflowBundle: bundle });

const worker = new URL('../../src/worker.ts', import.meta.url);
// It starts only where it is the script that Node was told to run.
process.argv[1] = fileURLToPath(worker);
await import(worker.href);
