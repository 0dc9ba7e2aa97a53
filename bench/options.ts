/** The command line of `npm run bench`. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { PARTS, type Part, USUAL_PARTS } from './figures.ts';
import { SIZE_NAMES, type SizeName } from './sizes.ts';

export interface BenchOptions {
  only: readonly Part[];
  size: SizeName;
  json?: string;
  /** Whether the result is kept in `bench/results/`. */
  keep: boolean;
  /** Whether a target that isn't met makes the run fail. */
  check: boolean;
  address?: string;
  profile?: string;
}

/** Reads the arguments after the script's name. Ends the process for `--help` and for what it doesn't know. */
export function readOptions(args: readonly string[]): BenchOptions {
  const program = new Command()
    .name('bench')
    .description(
      'Measures speed, history, memory and start, each figure beside its floor and beside the plain way.',
    )
    .option(
      '--only <parts>',
      `a comma list of ${PARTS.join(', ')}; all but cluster unless given`,
      readParts,
      [...USUAL_PARTS],
    )
    .addOption(new Option('--size <size>', 'how much is measured').choices(SIZE_NAMES).default('full'))
    .option('--quick', 'the same as --size quick: minutes')
    .option('--json <file>', 'writes the figures')
    .option('--keep', 'keeps the result in bench/results/, as every full run does')
    .option('--check', 'ends with 1 when a target is not met')
    .option('--address <host:port>', 'of a Temporal server to measure on, in place of one of our own')
    .option('--profile <folder>', 'writes CPU profiles of workers and API there (node --cpu-prof)')
    .parse(args, { from: 'user' });
  const { quick = false, keep, check = false, ...options } = program.opts<Written>();
  const size = quick ? 'quick' : options.size;
  return { ...options, size, check, keep: keep ?? size === 'full' };
}

interface Written extends Omit<BenchOptions, 'keep' | 'check'> {
  quick?: boolean;
  keep?: boolean;
  check?: boolean;
}

function readParts(written: string): Part[] {
  const names = written.split(',').map((name) => name.trim());
  const parts = PARTS.filter((part) => names.includes(part));
  if (parts.length !== names.length) throw new InvalidArgumentError(`must be of ${PARTS.join(', ')}`);
  return parts;
}
