/** `npm run sandbox`. */
import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import { createSandbox, sandboxEnvironment } from './create-sandbox.ts';

// An empty variable counts as not set: an empty host would mean every address of this machine.
const given = Object.entries(process.env).filter(([, value]) => value !== '');
const environment = sandboxEnvironment.safeParse(Object.fromEntries(given));

if (!environment.success) {
  for (const { path, message } of environment.error.issues) console.error(`${path.join('.')}: ${message}`);
  process.exit(1);
}
const env = environment.data;

try {
  const sandbox = await createSandbox({
    port: env.SANDBOX_PORT,
    host: env.SANDBOX_HOST,
    dataFile: join(env.DATA_DIR, 'sandbox.json'),
    webhookUrl: env.SANDBOX_WEBHOOK_URL,
    webhookSecret: env.SANDBOX_WEBHOOK_SECRET,
  });
  console.log(`The sandbox simulates the screening service:
  test    ${sandbox.testBaseUrl}
  live    ${sandbox.liveBaseUrl}
  portal  ${sandbox.portalBaseUrl}
Decide a review:
  curl --json '{"decision":"pass"}' ${sandbox.url}/_sandbox/transactions/<id or invoice>/decision`);

  closeWithGrace(async ({ err }) => {
    if (err) console.error(err);
    await sandbox.close();
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
