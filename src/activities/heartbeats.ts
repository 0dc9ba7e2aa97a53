/** Lets the server notice within seconds that the worker of a background activity has died, not only when its time is up. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** A few within the `heartbeatTimeout` of the background activities. A call that is quicker sends none. */
const EVERY_MS = 4_000;

/** An interceptor for the workers of background activities. */
export const withHeartbeats: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    async execute(input, next) {
      const beats = setInterval(() => context.heartbeat(), EVERY_MS);
      try {
        return await next(input);
      } finally {
        clearInterval(beats);
      }
    },
  },
});
