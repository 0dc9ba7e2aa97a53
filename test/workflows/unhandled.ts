/** A workflow interceptor by which a promise of the order is rejected, and nobody handles that. */
import type { WorkflowInterceptors } from '@temporalio/workflow';

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate(input, next) {
        next(input);
        void Promise.reject(new TypeError('nobody handles it'));
      },
    },
  ],
});
