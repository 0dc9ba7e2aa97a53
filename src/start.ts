import { type LocalStack, startLocalStack } from './dev/local-stack.ts';
import { screenSampleOrders, welcome } from './dev/welcome.ts';

// `npm start`: runs everything on one machine, with sample orders, until SIGINT, SIGTERM or SIGHUP.

/** After this time, the process exits. Unfinished work continues at the next start. */
const STOP_WITHIN_MS = 9_500;

const stopRequested = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});

/** Screens the sample orders if the sandbox decides them. Returns a table of the answers. */
async function screenSamples(stack: LocalStack): Promise<string> {
  return stack.sandboxUrl === undefined ? '' : `${await screenSampleOrders(stack)}\n\n`;
}

try {
  const stack = await Promise.race([startLocalStack(process.env), stopRequested]);
  if (stack !== undefined) {
    const end = Promise.race([stopRequested, stack.broken]);
    const shown = await Promise.race([screenSamples(stack), end]);
    if (shown !== undefined) console.log(`\n${shown}${welcome(stack)}\n`);
    await end;
    console.error('Stopping …');
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    await stack.stop();
    console.error('Stopped.');
  }
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : 'npm start failed.');
  process.exit(1);
}
