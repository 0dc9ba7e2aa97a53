import { stripVTControlCharacters } from 'node:util';
import type { CommandTools } from '../../../src/cli/define-command.ts';
import { exitCodeOf, type Problem, problemOf } from '../../../src/cli/exit-codes.ts';
import { type Output, showAnswer } from '../../../src/cli/output.ts';
import { createProgram } from '../../../src/cli/program.ts';

export interface CommandRun {
  code: number;
  /** What it answered: one document, or a line for each of several orders; words with `--table`. */
  // biome-ignore lint/suspicious/noExplicitAny: what the command answers is what the tests look into
  answers: any[];
  /** What it said on standard error before it ended. */
  notices: string[];
  problem: Problem | undefined;
}

/**
 * Runs a command of `order-screening` in the test's own process, where it takes a hundredth of the time that a new process takes.
 * @param args the command line; with `--table` among them the answers are words, without colours
 */
export async function runCommand(
  args: readonly string[],
  tools: Omit<CommandTools, 'output'>,
): Promise<CommandRun> {
  const run: CommandRun = { code: 0, answers: [], notices: [], problem: undefined };
  const json = !args.includes('--table');
  // As a reader of the JSON sees it, without what is undefined.
  const answer: Output['answer'] = (document, words = () => showAnswer(document)) =>
    void run.answers.push(json ? JSON.parse(JSON.stringify(document)) : stripVTControlCharacters(words()));
  const output: Output = {
    answer,
    line: answer,
    file: (content) => void run.answers.push(content),
    notice: (words) => void run.notices.push(words),
    problem: (problem) => {
      run.problem = problem;
    },
  };
  try {
    await createProgram({ ...tools, output }).parseAsync(args, { from: 'user' });
    run.code = Number(process.exitCode ?? 0);
  } catch (error) {
    run.code = exitCodeOf(error);
    run.problem = problemOf(error);
  } finally {
    process.exitCode = undefined;
  }
  return run;
}
