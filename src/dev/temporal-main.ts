// `npm run temporal`: the embedded Temporal server alone, until it is stopped by SIGINT or SIGTERM.
import { z } from 'zod';
import { startEmbeddedTemporal } from './embedded-temporal.ts';

const port = (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback);
const environment = z
  .object({
    TEMPORAL_PORT: port(7233),
    TEMPORAL_UI_PORT: port(8233),
    DATA_DIR: z.string().min(1).default('.data'),
  })
  .safeParse(process.env);

if (environment.success) await main(environment.data);
else {
  console.error(z.prettifyError(environment.error));
  process.exitCode = 1;
}

async function main(settings: {
  TEMPORAL_PORT: number;
  TEMPORAL_UI_PORT: number;
  DATA_DIR: string;
}): Promise<void> {
  try {
    const server = await startEmbeddedTemporal({
      port: settings.TEMPORAL_PORT,
      uiPort: settings.TEMPORAL_UI_PORT,
      dataDir: settings.DATA_DIR,
    });
    for (const warning of server.warnings) console.warn(`Warning: ${warning}`);
    console.log(
      `Temporal is ready at ${server.address}, its UI at ${server.uiUrl}, its state in ${settings.DATA_DIR}`,
    );
    let asked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        asked = true;
        void server.stop();
      });
    }
    const how = await server.ended;
    if (!asked) {
      console.error(`The Temporal server ended (${how}); its log is ${settings.DATA_DIR}/temporal.log`);
      process.exitCode = 1;
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
