/** Workflow interceptors: Temporal suggests to continue as new once a history is longer than this test's limit. */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

const LONG = 90;

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate(input, next) {
        getActivator().mutateWorkflowInfo((info) => ({
          ...info,
          continueAsNewSuggested: info.historyLength > LONG,
        }));
        next(input);
      },
    },
  ],
});
