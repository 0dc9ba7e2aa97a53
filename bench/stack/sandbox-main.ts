/** Runs the sandbox in its own process without writing to disk, so that it distorts no figure. */
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';

const sandbox = await createSandbox({ port: 0 });
console.log(`sandbox at ${sandbox.url}`);
