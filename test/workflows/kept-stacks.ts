/** A workflow interceptor that fails the replay of an order which keeps the stack of a promise that it waits for. */
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';

export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      activate(input, next) {
        next(input);
        const { promiseStackStore } = getActivator();
        if (!(promiseStackStore?.promiseToStack instanceof Map)) throw new Error('no promiseStackStore');
        const kept = promiseStackStore.promiseToStack.size;
        if (kept > 0) throw new Error(`it keeps the stacks of ${kept} promises`);
      },
    },
  ],
});
