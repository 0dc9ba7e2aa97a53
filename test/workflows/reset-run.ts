/** Workflow interceptors: every order takes itself for one that an operator reset. */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

export function interceptors(): WorkflowInterceptors {
  return {
    internals: [
      {
        activate(input, next) {
          getActivator().mutateWorkflowInfo((info) => ({
            ...info,
            originalExecutionRunId: 'the run before',
          }));
          next(input);
        },
      },
    ],
  };
}
