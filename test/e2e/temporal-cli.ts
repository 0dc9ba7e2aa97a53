/** The `temporal` command, as an operator runs it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findTemporalBinary } from '../../src/dev/temporal-binary.ts';

/** @returns what runs the command against the server, and resolves to its output; it rejects when the command fails */
export function temporalCli(server: { readonly address: string }): (...args: string[]) => Promise<string> {
  return async (...args) => {
    const path = await findTemporalBinary();
    const { stdout } = await promisify(execFile)(path, [...args, '--address', server.address]);
    return stdout;
  };
}
