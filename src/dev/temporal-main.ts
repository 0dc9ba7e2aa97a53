import { loadLocalSettings, loadTemporalSettings } from '../config/index.ts';
import { startEmbeddedTemporal } from './embedded-temporal.ts';
import { embeddedOptions } from './local-stack.ts';

// `npm run temporal`: the embedded Temporal server alone, until it is stopped by SIGINT or SIGTERM.

try {
  const local = loadLocalSettings(process.env);
  const { dataDir } = local;
  const server = await startEmbeddedTemporal(
    embeddedOptions({ local, temporal: loadTemporalSettings(process.env) }),
  );
  console.log(`Temporal is ready at ${server.address}, its UI at ${server.uiUrl}, its state in ${dataDir}`);
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      asked = true;
      void server.stop();
    });
  }
  const how = await server.ended;
  if (!asked) {
    console.error(`The Temporal server ended (${how}); its log is ${dataDir}/temporal.log`);
    process.exitCode = 1;
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
