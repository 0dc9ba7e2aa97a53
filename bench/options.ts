/** The command line of `npm run bench`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { PARTS, type Part } from './figures.ts';
import { SIZE_NAMES, type SizeName } from './sizes.ts';

interface BenchOptions {
  only: readonly Part[];
  size: SizeName;
  json?: string;
  address?: string;
}

/** Reads the arguments after the script's name. Ends the process for `--help` and for an invalid argument. */
export function readOptions(args: readonly string[]): BenchOptions {
  return new Command()
    .name('bench')
    .description('Measures speed, history and memory, each figure beside the floor.')
    .option('--only <parts>', `comma-separated list of ${PARTS.join(', ')}`, readParts, [...PARTS])
    .addOption(new Option('--size <size>', 'how much to measure').choices(SIZE_NAMES).default('full'))
    .option('--json <file>', 'write the figures to this file')
    .option('--address <host:port>', 'measure on this Temporal server instead of starting one')
    .parse(args, { from: 'user' })
    .opts<BenchOptions>();
}

function readParts(written: string): Part[] {
  const names = written.split(',').map((name) => name.trim());
  const parts = PARTS.filter((part) => names.includes(part));
  if (parts.length !== names.length) throw new InvalidArgumentError(`must be of ${PARTS.join(', ')}`);
  return parts;
}
