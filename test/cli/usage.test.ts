import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { exitCodeOf, problemOf } from '../../src/cli/exit-codes.ts';
import { OrderScreeningError } from '../../src/contract/errors.ts';
import { aProgram } from './support.ts';

/** What is told of wrong arguments; nothing may be sent. */
async function complaint(...args: string[]) {
  try {
    await aProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    return { code: exitCodeOf(error), problem: problemOf(error) };
  }
  throw new Error('nothing was wrong');
}

describe('bad usage', () => {
  it.each([
    [['shwo', '1'], 'unknown command'],
    [['show'], 'missing required argument'],
    [['show', '1', 'top-secret'], 'too many arguments'],
    [['cancel', '1', '--reson=top-secret'], "unknown option '--reson'"],
    [['acknowledge', '1'], 'acknowledge --help'],
    [['list', '--limit', 'top-secret'], 'list --help'],
    [['withdraw', '1', 'top-secret'], 'withdraw --help'],
    [['transaction', '#'], 'transaction --help'],
    [['transaction', '..'], 'transaction --help'],
    [['transaction', 'x'.repeat(65)], 'transaction --help'],
  ])('%j is told without a value, and ends with 2', async (args, words) => {
    const { code, problem } = await complaint(...args);
    expect(code).toBe(2);
    expect(problem).toMatchObject({ type: 'usage', detail: expect.stringContaining(words) });
    expect(JSON.stringify(problem)).not.toContain('top-secret');
  });

  it('is listed whole, each fault with its argument or option', async () => {
    const { problem } = await complaint(
      'chargeback',
      '..',
      '--due-date',
      'soon',
      '--transaction-id',
      'that one',
    );
    expect(problem.errors?.map(({ path }) => path).sort()).toEqual([
      '--due-date',
      '--reason-code',
      '--transaction-id',
      '<orderId>',
    ]);
  });
});

describe('the exit code', () => {
  it.each([
    ['invalid-request', 2],
    ['card-data-in-request', 2],
    ['unknown-order', 4],
    ['unknown-action', 4],
    ['unknown-transaction', 4],
    ['transaction-without-decision', 3],
    ['screening-service-unavailable', 5],
    ['attempt-mismatch', 3],
    ['cancel-window-closed', 3],
    ['refused-by-screening-service', 3],
    ['outcome-unknown', 5],
    ['action-not-sent', 5],
    ['busy', 5],
    ['temporal-unavailable', 5],
  ] as const)('tells bad input, refused, not found and unknown apart: of %s it is %i', (code, exit) => {
    expect(exitCodeOf(new OrderScreeningError(code, ''))).toBe(exit);
  });

  it('is 1 for what nobody expected', () => {
    expect(exitCodeOf(new TypeError('a fault of the program'))).toBe(1);
  });
});

it.each([
  ['on no disk', '> /dev/full'],
  // In blocks of a kilobyte: a part of the help fits.
  ['on a disk with too little room', '> "$(mktemp)"', "trap '' XFSZ; ulimit -f 1;"],
])('output that finds room %s ends with 1, and says so', async (_where, to, before = '') => {
  const command = `${before} ${process.execPath} bin/order-screening.mjs --help --table ${to}`;
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile('bash', ['-c', command], (error, _stdout, stderr) => resolve({ code: error?.code, stderr }));
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(/The output can't be written \((ENOSPC|EFBIG)\)/);
});
