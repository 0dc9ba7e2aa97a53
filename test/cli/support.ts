import type { Command } from 'commander';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram } from '../../src/cli/program.ts';

/** The program without a way to Temporal. */
export function aProgram(): Command {
  return createProgram({
    env: {},
    output: createOutput(true),
    withOrders: () => Promise.reject(new Error('no connection is needed for this')),
  });
}
