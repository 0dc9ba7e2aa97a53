/** Says in each log line of an activity which attempt of its order it is about; the order itself is known by its workflow. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** An interceptor for all workers. The SDK's own `attempt` counts an activity's tries. */
export const withAttemptInLog: ActivityInterceptorsFactory = () => {
  let attempt: number | undefined;
  return {
    inbound: {
      execute(input, next) {
        attempt = attemptIn(input.args[0]);
        return next(input);
      },
    },
    outbound: {
      getLogAttributes: (attributes, next) =>
        next(attempt === undefined ? attributes : { ...attributes, orderAttempt: attempt }),
    },
  };
};

function attemptIn(request: unknown): number | undefined {
  if (typeof request !== 'object' || request === null || !('attempt' in request)) return undefined;
  return typeof request.attempt === 'number' ? request.attempt : undefined;
}
