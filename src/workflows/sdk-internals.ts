/**
 * What of the SDK's inside is replaced in the workflow sandbox.
 *
 * It stands here and not beside src/client/sdk-internals.ts, since the workflow bundle may import no Node module.
 *
 * Temporal's SDK takes the stack of every promise that a workflow makes, and keeps it for as long as the promise is waited for, to show
 * it in the UI. No option stops that. Each stack is that of an error without words; here those are empty, and the SDK then
 * keeps nothing. Any other error has its own, with the lines of the bundle that was kept.
 * An order says in words where it stands.
 *
 * - It saves a third of the workflow thread's CPU in an order's first task (10.1 ms instead of 15.4, two runs each of 300 orders, taken
 *   side by side on a busy machine, each pair between 32% and 36%), and 35 of the 75 KB of JavaScript heap of an order that waits (within
 *   1 KB in each run).
 * - When the SDK changes: a sandbox that freezes `Error` or sets its own `prepareStackTrace` in it, or a hook that asks for stacks in
 *   another way, has the stacks kept again, and nothing else; one that keeps no stacks by itself makes this file needless.
 * - test/workflows/sdk-internals.test.ts says both: «keeps no stacks of what an order waits for» and «would keep them otherwise».
 */

/** V8 calls it in the realm of the error, for each error of which the stack is read ("Customizing stack traces"). */
function prepareStackTrace(error: Error, frames: NodeJS.CallSite[]): string {
  if (error.message === '') return '';
  return [String(error), ...frames.map((frame) => `    at ${frame}`)].join('\n');
}

Error.prepareStackTrace = prepareStackTrace;
