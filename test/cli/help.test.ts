import { readFileSync } from 'node:fs';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
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
  await program.parseAsync([...args, '--help'], { from: 'user' }).catch((error: unknown) => {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  });
  return written;
}

describe('--help', () => {
  it('lists every command of the page, and the exit codes', async () => {
    const text = await help();
    const listed = [...text.matchAll(/^ {2}([a-z][a-z-]+) (?:\[options\]|\[command\])/gm)].map(
      ([, name]) => name,
    );
    expect(listed.sort()).toEqual([...COMMANDS, 'help'].sort());
    expect(text).toMatch(/Exit codes\n {2}0 {2}done/);
  });

  it.each(COMMANDS)('of %s has examples of that command, and the options of all', async (command) => {
    const text = await help(command);
    expect(text).toMatch(new RegExp(`Examples\\n {2}order-screening ${command}`));
    expect(text).toContain('--json');
  });
});
