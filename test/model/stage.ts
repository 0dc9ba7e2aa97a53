/** The time-skipping server and the workers that lives are lived on, one for a test file. */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll } from 'vitest';
import { BACKGROUND_TASK_QUEUE, POLLS_TASK_QUEUE, TASK_QUEUE } from '../../src/orders/ids.ts';
import { workflowBundle } from '../../src/workflow-bundle.ts';
import { createTimeSkipping } from '../support/index.ts';
import { activitiesOf, type ScriptedService } from './scripted-service.ts';

export interface Stage {
  environment: TestWorkflowEnvironment;
  /** By integration; each order has one of its own. */
  services: Map<string, ScriptedService>;
  tally: Tally;
}

/** How much was compared: steps, those without any silence, the reasons for silence, and requests by what was expected. */
export interface Tally {
  steps: number;
  compared: number;
  silent: Map<string, number>;
  requests: Map<string, number>;
}

/** Once a process, also where a file has several stages. */
let installed = false;

/** Starts server and workers before the tests of a file, and stops them after. */
export function withStage(): () => Stage {
  const services = new Map<string, ScriptedService>();
  const tally: Tally = { steps: 0, compared: 0, silent: new Map(), requests: new Map() };
  let environment: TestWorkflowEnvironment | undefined;
  let stop: () => Promise<void> = async () => undefined;

  beforeAll(async () => {
    if (!installed) Runtime.install({ logger: new DefaultLogger('ERROR') });
    installed = true;
    environment = await createTimeSkipping();
    const connection = environment.nativeConnection;
    const activities = activitiesOf((integration) => {
      const service = services.get(integration);
      if (service === undefined) throw new Error('no such integration');
      return service;
    });
    const workers = [
      await Worker.create({
        connection,
        taskQueue: TASK_QUEUE,
        workflowBundle: await workflowBundle(),
        activities: { ...activities },
      }),
      await Worker.create({ connection, taskQueue: BACKGROUND_TASK_QUEUE, activities: { ...activities } }),
      await Worker.create({ connection, taskQueue: POLLS_TASK_QUEUE, activities: { ...activities } }),
    ];
    const runs = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(runs);
    };
  });
  afterAll(async () => {
    await stop();
    await environment?.teardown();
  });

  return () => {
    if (environment === undefined) throw new Error('the environment is there from beforeAll on');
    return { environment, services, tally };
  };
}
