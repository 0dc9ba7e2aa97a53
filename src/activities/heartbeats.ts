/** Lets the server notice within seconds that the worker of a background activity has died, not only when its time is up. */
import { Context } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/** A few within the `heartbeatTimeout` of the background activities. A call that is quicker sends none. */
const EVERY_MS = 4_000;

/** What the running activities last told the next try. */
const told = new WeakMap<Context, unknown>();

/** Tells the next try of the activity how far this one has come: it finds it as its `heartbeatDetails`. */
export function tellNextTry(details: unknown): void {
  const context = Context.current();
  told.set(context, details);
  context.heartbeat(details);
}

/** An interceptor for the workers of background activities. The server keeps what the last heartbeat said, so each says it again. */
export const withHeartbeats: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    async execute(input, next) {
      const beats = setInterval(
        () => context.heartbeat(told.has(context) ? told.get(context) : context.info.heartbeatDetails),
        EVERY_MS,
      );
      try {
        return await next(input);
      } finally {
        clearInterval(beats);
      }
    },
  },
});
