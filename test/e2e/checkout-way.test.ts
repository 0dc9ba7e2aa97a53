import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedTemporal, startEmbeddedTemporal } from '../../src/dev/embedded-temporal.ts';
import { wayOfACheckout } from '../support/checkout-way.ts';
import { freePort, spawnProcess } from '../support/index.ts';

const PATIENT_MS = 120_000;

/** A server of its own: on one that others had, their orders still have something to do. */
let server: EmbeddedTemporal;
beforeAll(async () => {
  server = await startEmbeddedTemporal({ port: 0 });
}, PATIENT_MS);
afterAll(() => server?.stop());

/** What watches, what goes through all, and the stand-in for the service. */
const BESIDE_THE_WAY =
  /^src\/(?:activities\/metrics|api\/metrics|process\/log|codec\/payload-codec|codec\/payload-converter|card-data\/.*|sandbox\/.*)\.c?[jt]s$/;

it(
  'a checkout decides something in the files that docs/architecture.md lists, and in no others',
  async () => {
    const once = await spawnProcess('test/e2e/one-checkout.ts', {
      env: { TEMPORAL_ADDRESS: server.address, API_PORT: String(await freePort()) },
      readyWithinMs: PATIENT_MS,
      readyWhen: /^deciding files: .*$/m,
    });
    const [, found = ''] = /^deciding files: (.*)$/m.exec(once.output()) ?? [];
    const listed = wayOfACheckout().map(({ file }) => file);
    expect(found.split(' ').filter((file) => !BESIDE_THE_WAY.test(file))).toEqual(listed.sort());
  },
  PATIENT_MS,
);
