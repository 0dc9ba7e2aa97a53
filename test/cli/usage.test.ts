import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, problemOf } from '../../src/cli/exit-codes.ts';
import { OrderScreeningError } from '../../src/contract/errors.ts';
import { aProgram } from './support.ts';

/** The table of commands in docs/cli.md, in its order. */
const [overview = ''] = readFileSync('docs/cli.md', 'utf8').split('## Settings');
const COMMANDS = [...overview.matchAll(/^\| `([a-z-]+)/gm)].map(([, name = '']) => name);

/** What `--help` writes; nothing else may be done for it. */
async function help(...args: string[]): Promise<string> {
  const program = aProgram();
  let written = '';
  for (const command of [program, ...program.commands]) {
    command.configureOutput({
      writeOut: (text) => {
        written += text;
      },
    });
  }
  const ended = program.parseAsync([...args, '--help'], { from: 'user' });
  await expect(ended).rejects.toMatchObject({ name: CommanderError.name, exitCode: 0 });
  return written;
}

describe('--help', () => {
  it('lists every command of the page, and the exit codes', async () => {
    const text = await help();
    const listed = [...text.matchAll(/^ {2}([a-z][a-z-]+) (?:\[options\]|\[command\])/gm)];
    expect(listed.map(([, name]) => name).sort()).toEqual([...COMMANDS, 'help'].sort());
    expect(text).toMatch(/Exit codes\n {2}0 {2}done/);
  });

  it.each(COMMANDS)('of %s has examples of that command, and the options of all', async (command) => {
    const text = await help(command);
    expect(text).toMatch(new RegExp(`Examples\\n {2}order-screening ${command}`));
    expect(text).toContain('--json');
  });
});

it.each<[args: string, words: string, paths?: string[]]>([
  ['shwo 1', 'unknown command'],
  ['show', 'missing required argument'],
  ['show 1 top-secret', 'too many arguments'],
  ['cancel 1 --reson=top-secret', "unknown option '--reson'"],
  ['acknowledge 1', 'acknowledge --help', ['--reason']],
  ['list --limit top-secret', 'list --help', ['--limit']],
  ['withdraw 1 top-secret', 'withdraw --help', ['<number>']],
  [
    'gateway-result 1001 pass --authcode= --transaction-id=',
    'gateway-result --help',
    ['--authcode', '--transaction-id'],
  ],
  ['transaction #', 'transaction --help', ['<idOrInvoice>']],
  [
    'chargeback .. --due-date soon --transaction-id top-secret',
    'chargeback --help',
    ['--due-date', '--reason-code', '--transaction-id', '<orderId>'],
  ],
])(
  'bad usage is told without a value, each fault with its place, and ends with 2: %s',
  async (args, words, paths) => {
    const error: unknown = await aProgram()
      .parseAsync(args.split(' '), { from: 'user' })
      .catch((reason: unknown) => reason);
    const problem = problemOf(error);
    expect(exitCodeOf(error)).toBe(2);
    expect(problem).toMatchObject({ type: 'usage', detail: expect.stringContaining(words) });
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual(paths);
    expect(JSON.stringify(problem)).not.toContain('top-secret');
  },
);

it.each([
  ['invalid-request', 2],
  ['unknown-order', 4],
  ['attempt-mismatch', 3],
  ['other-integration', 3],
  ['refused-by-screening-service', 3],
  ['outcome-unknown', 5],
  ['temporal-unavailable', 5],
] as const)('the exit code of %s is %i', (code, exit) => {
  expect(exitCodeOf(new OrderScreeningError(code, ''))).toBe(exit);
  expect(exitCodeOf(new TypeError('a fault of the program'))).toBe(1);
});

async function runInShell(command: string) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile('bash', ['-c', command], (error, stdout, stderr) =>
      resolve({ code: error?.code, stdout, stderr }),
    );
  });
}
const PROGRAM = `${process.execPath} bin/order-screening.mjs`;

it('options without a command write the help and end with 2', async () => {
  const stdout = expect.stringContaining('Usage: order-screening');
  expect(await runInShell(`${PROGRAM} --table`)).toEqual({ code: 2, stdout, stderr: '' });
});

it.each([
  ['on no disk', `${PROGRAM} --help --table > /dev/full`],
  // In blocks of a kilobyte: a part of the help fits.
  ['on a disk with too little room', `trap '' XFSZ; ulimit -f 1; ${PROGRAM} --help --table > "$(mktemp)"`],
])('output that finds room %s ends with 1, and says so', async (_where, command) => {
  const { code, stderr } = await runInShell(command);
  expect(code).toBe(1);
  expect(stderr).toMatch(/The output can't be written \((ENOSPC|EFBIG)\)/);
});
