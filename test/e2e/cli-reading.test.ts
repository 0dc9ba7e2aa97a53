import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataConverter } from '../../src/starter.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { cliOf, PERSONAL } from './cli-support.ts';
import { runCli, startCli } from './run-cli.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const key = randomBytes(32);
const server = withTestServer({ dataConverter: createDataConverter([{ id: 'one', key }]) });
let all: Deployment;

beforeAll(async () => {
  // All that follows is read from payloads that are encrypted.
  all = await deploy(
    server.address,
    {
      default: { poll: { first: '30s', factor: 1, max: '30s' } },
      other: {},
    },
    { env: { PAYLOAD_KEYS: `one:${key.toString('base64')}` } },
  );
});
afterAll(() => all?.stop());

const { cli, screen } = cliOf(() => all);

describe('show', () => {
  it('is the same state as the API shows', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const run = await cli('show', `#${orderId}`);
    expect(run.code).toBe(0);
    const { body } = await all.call('GET', `/v1/orders/${orderId}`);
    expect(run.json()).toMatchObject({ phase: 'review', decision: 'review', attempts: body.attempts });
  });

  it('is words and a table on demand, in colours on demand', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const words = await runCli(['show', orderId, '--table'], { ...all.settings, CI: '', NO_COLOR: '1' });
    expect(words.code).toBe(0);
    expect(words.stdout).toMatch(/^order\s+e2e-.*\nphase\s+review, since .*\ndecision\s+review\n/);
    expect(words.stdout).toContain('│ attempt │ decision │');
    const colored = await runCli(['show', orderId, '--table'], { ...all.settings, FORCE_COLOR: '1' });
    expect(colored.stdout).toContain('\u001b[33mreview\u001b[39m');
  });

  it('ends with 4 for an unknown order and for an unknown integration', async () => {
    const run = await cli('show', anOrderId());
    expect([run.code, run.stdout, run.problem().type]).toEqual([4, '', 'unknown-order']);
    const nowhere = await cli('show', anOrderId(), '--integration', 'nowhere');
    expect([nowhere.code, nowhere.problem().type]).toEqual([4, 'unknown-integration']);
  });
});

describe('without the payload keys', () => {
  it('an order cannot be read: that is said, with 5', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await runCli(['show', orderId], { ...all.settings, PAYLOAD_KEYS: undefined });
    expect(run).toMatchObject({ code: 5, stdout: '' });
    expect(run.problem()).toMatchObject({
      type: 'payload-keys',
      detail: expect.stringContaining('set PAYLOAD_KEYS'),
    });
  });
});

describe('list', () => {
  it('filters as the API does, goes on by cursor, and shows nothing personal', async () => {
    const ids = [anOrderId(), anOrderId()];
    for (const id of ids) await screen(id, 'review@example.com', '--integration', 'other');
    const filters = ['--integration', 'other', '--phase', 'review', '--decision', 'review', '--no-attention'];
    const found = await eventually(async () => {
      const run = await cli('list', ...filters);
      expect(
        run
          .json()
          .orders.map((one: { orderId: string }) => one.orderId)
          .sort(),
      ).toEqual(expect.arrayContaining([...ids].sort()));
      return run;
    });
    expect(found.code).toBe(0);
    expect(found.stdout).not.toMatch(PERSONAL);
    const first = (await cli('list', ...filters, '--limit', '1')).json();
    const second = (await cli('list', ...filters, '--limit', '1', '--cursor', first.cursor)).json();
    expect(first.orders).toHaveLength(1);
    expect(second.orders).toHaveLength(1);
    expect(second.orders[0].orderId).not.toBe(first.orders[0].orderId);
    const table = await cli('list', ...filters, '--table');
    expect(table.stdout).toContain(ids[0]);
    expect(table.stdout).not.toMatch(PERSONAL);
    expect((await cli('list', '--integration', 'other', '--attention')).json().orders).toEqual([]);
  });

  it('lists all wrong filters at once, by their options, without a value', async () => {
    const run = await cli('list', '--phase', 'top-secret', '--limit', '0', '--integration', 'top:secret');
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(
      run
        .problem()
        .errors.map(({ path }: { path: string }) => path)
        .sort(),
    ).toEqual(['--integration', '--limit', '--phase']);
    expect(run.stderr).not.toMatch(/top.secret/);
  });
});

describe('watch', () => {
  it('writes a line of JSON for each change of an order, until it rests', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const watch = startCli(['watch', orderId, '--timeout', '30', '--every', '0.1'], all.settings);
    await eventually(() => expect(watch.lines()).toHaveLength(1), { timeoutMs: 20_000 });
    all.sandbox.control.decide(orderId, 'pass');
    expect((await watch.done).code).toBe(0);
    const lines = watch.lines();
    expect(lines[0]).toMatchObject({ orderId, phase: 'review', decision: 'review', action: 'hold' });
    expect(lines.at(-1)).toMatchObject({ orderId, phase: 'decided', decision: 'pass', action: 'proceed' });
  });

  it('waits for the cancel that follows a decision', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const watch = startCli(['watch', orderId, '--timeout', '30', '--every', '0.05'], all.settings);
    await eventually(() => expect(watch.lines()).toHaveLength(1), { timeoutMs: 20_000 });
    all.sandbox.control.decide(orderId, 'fail');
    expect((await watch.done).code).toBe(0);
    expect(watch.lines().at(-1)).toMatchObject({
      phase: 'canceled',
      actions: [{ kind: 'cancel', status: 'done' }],
    });
  });

  it('ends with 7 when the order does not rest in time, and with 4 for an unknown one', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com');
    const run = await cli('watch', orderId, '--timeout', '0.5', '--every', '0.1', '--table');
    expect(run.code).toBe(7);
    expect(run.stdout).toMatch(/ {2}review {2}decision .*review/);
    expect((await cli('watch', anOrderId(), '--timeout', '5')).code).toBe(4);
  });

  it('of the list shows who comes and who is gone', async () => {
    const orderId = anOrderId();
    const args = [
      'watch',
      '--integration',
      'other',
      '--phase',
      'review',
      '--timeout',
      '60',
      '--every',
      '0.2',
    ];
    const watch = startCli(args, all.settings);
    await screen(orderId, 'review@example.com', '--integration', 'other');
    const mine = () => watch.lines().filter((line) => line.orderId === orderId);
    await eventually(() => expect(mine()[0]).toMatchObject({ phase: 'review' }), { timeoutMs: 20_000 });
    await cli('cancel', orderId, '--integration', 'other');
    await eventually(() => expect(mine().at(-1)).toMatchObject({ gone: true }), { timeoutMs: 20_000 });
    expect(JSON.stringify(watch.lines())).not.toMatch(PERSONAL);
    watch.stop();
    await watch.done;
  });
});

describe('the command line', () => {
  it('without a command shows its help, and ends with 2', async () => {
    const { code, stdout } = await runCli([], {});
    expect(code).toBe(2);
    expect(stdout).toContain('Usage: order-screening');
  });

  it('--help ends with 0', async () => {
    const { code, stdout, stderr } = await runCli(['watch', '--help'], {});
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Usage: order-screening watch');
  });

  it('says in words what is wrong when words are asked for', async () => {
    const run = await runCli(['list', '--limit', '1000', '--table'], { ...all.settings, NO_COLOR: '1' });
    expect(run.stderr).toBe(
      'Error: See order-screening list --help (usage)\n  --limit: must be a whole number from 1 to 100\n',
    );
  });

  it('ends with 2 for settings that have faults, all of them named', async () => {
    const env = { ...all.settings, SCREENING_CONFIG: 'nowhere.json', CARD_STASH_URL: 'ftp://top-secret' };
    const run = await runCli(['show', '1'], env);
    expect(run).toMatchObject({ code: 2, stdout: '' });
    expect(run.problem().errors.map(({ path }: { path: string }) => path)).toEqual([
      'SCREENING_CONFIG',
      'CARD_STASH_URL',
    ]);
    expect(run.stderr).not.toContain('top-secret');
  });
});
