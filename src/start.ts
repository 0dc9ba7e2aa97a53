import { type LocalStack, startLocalStack } from './dev/local-stack.ts';
import { sampleTable, screenSampleOrders, welcome } from './dev/welcome.ts';
import { createLog } from './process/log.ts';

// `npm start`: everything on one machine, with sample orders, until it is stopped by SIGINT or SIGTERM, or its terminal is closed.

/** A stop that takes longer is cut off: whatever dies goes on at the next start. */
const STOP_WITHIN_MS = 9_500;

const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
});

try {
  // The terminal is for people: requests are logged only when LOG_LEVEL asks for it.
  const starting = startLocalStack(process.env, ({ logLevel }) =>
    createLog('order-screening', process.env.LOG_LEVEL ? logLevel : 'warn'),
  );
  const stack = await Promise.race([starting, asked]);
  if (stack !== undefined) {
    if (stack.sandboxUrl !== undefined) await showSampleOrders(stack);
    console.log(`\n${welcome(stack)}\n`);
    await Promise.race([asked, stack.broken]);
    console.error('Stopping …');
    setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref();
    await stack.stop();
    console.error('Stopped.');
  }
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : 'It could not be started.');
  process.exit(1);
}

async function showSampleOrders({ apiUrl, apiKey }: LocalStack): Promise<void> {
  const { results, failures } = await screenSampleOrders(apiUrl, apiKey);
  console.log(`\nSample orders\n${sampleTable(results)}`);
  for (const words of failures) console.log(`Not screened: ${words}`);
}
