/** A release with a mistake: the signal `plant` makes a command that no other release makes. */
import { sleep, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

export const interceptors: WorkflowInterceptorsFactory = () => ({
  inbound: [
    {
      handleSignal: async (input, next) => {
        if (input.signalName !== 'recheck' || input.args[0] !== 'plant') return next(input);
        sleep('30 days').catch(() => undefined);
        return next({ ...input, args: [] });
      },
    },
  ],
});
