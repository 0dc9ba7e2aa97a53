import type { WorkflowInfo, WorkflowInterceptors } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

/** @returns workflow interceptors by which every order is told something else about itself than Temporal says */
export function changedInfo(
  changes: (info: WorkflowInfo) => Partial<WorkflowInfo>,
): () => WorkflowInterceptors {
  return () => ({
    internals: [
      {
        activate(input, next) {
          getActivator().mutateWorkflowInfo((info) => ({ ...info, ...changes(info) }));
          next(input);
        },
      },
    ],
  });
}
