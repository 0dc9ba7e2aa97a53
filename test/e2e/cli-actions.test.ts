import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withTestServer } from '../support/index.ts';
import { cliOf } from './cli-support.ts';
import { anOrderId, type Deployment, deploy } from './support.ts';

const server = withTestServer();
let all: Deployment;

beforeAll(async () => {
  all = await deploy(server.address, {
    default: { poll: { first: '30s', factor: 1, max: '30s' } },
    short: { cancelWindow: '3s', autoCancel: false, reviewLeadTime: '300ms', recheckLeadTime: '0s' },
  });
});
afterAll(() => all?.stop());

const { cli, screen } = cliOf(() => all);

describe('cancel', () => {
  it('cancels with the service, once for the same key', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const args = ['cancel', orderId, '--reason', 'the customer asked', '--idempotency-key', 'k-1'];
    const first = await cli(...args);
    expect(first.code).toBe(0);
    expect(first.json()).toMatchObject({ kind: 'cancel', status: 'done', phase: 'canceled' });
    expect((await cli(...args)).json()).toEqual(first.json());
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(1);
  });

  it('ends with 3 after the window, and says when that was', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com', '--integration', 'short');
    const { cancelBy } = await all
      .until(orderId, ({ phase }) => phase === 'closed', 'short')
      .then(({ attempts }) => attempts[0]);
    const run = await cli('cancel', orderId, '--integration', 'short');
    expect(run).toMatchObject({ code: 3, stdout: '' });
    expect(run.problem()).toMatchObject({ type: 'cancel-window-closed', cancelBy });
    expect(all.sandbox.control.ledger({ operation: 'cancel-transaction', invoice: orderId })).toHaveLength(0);
  });

  it('ends with 7 when the service is down for longer than 10 s, and goes on', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    all.sandbox.control.setFaults({
      faults: [{ operation: 'cancel-transaction', kind: '5xx-before-commit', match: { invoice: orderId } }],
    });
    const run = await cli('cancel', orderId);
    expect(run.code).toBe(7);
    expect(run.json()).toMatchObject({ status: 'requested' });
    all.sandbox.control.clearFaults();
    await all.until(orderId, ({ phase }) => phase === 'canceled');
  });
});

describe('the other actions', () => {
  it('report-fraud asks the analysts', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('report-fraud', orderId, '--reason', 'the card holder called');
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ kind: 'report-fraud', status: 'done' });
    expect(all.sandbox.control.ledger({ operation: 'report-fraud', invoice: orderId })).toHaveLength(1);
  });

  it('chargeback sends its fields, and lists every wrong one by its option', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    all.sandbox.control.cover(orderId, true);
    const wrong = await cli('chargeback', orderId, '--due-date', 'soon', '--transaction-id', 'that one');
    expect(wrong.code).toBe(2);
    expect(
      wrong
        .problem()
        .errors.map(({ path }: { path: string }) => path)
        .sort(),
    ).toEqual(['--due-date', '--reason-code', '--transaction-id']);
    const fields = ['--reason-code', '10.4', '--due-date', '2099-01-31', '--reference-number', 'CB-77'];
    const run = await cli('chargeback', orderId, ...fields, '--inquiry');
    expect(run.code).toBe(0);
    expect(all.sandbox.control.transactions(orderId)[0]?.chargebacks).toEqual([
      expect.objectContaining({
        reason_code: '10.4',
        due_date: '2099-01-31',
        reference_number: 'CB-77',
        inquiry: 'true',
      }),
    ]);
  });

  it('chargeback ends with 3 when the service refuses it, in its words', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'fail@example.com');
    const run = await cli('chargeback', orderId, '--reason-code', '10.4', '--due-date', '2099-01-31');
    expect(run.code).toBe(3);
    expect(run.problem()).toMatchObject({ type: 'refused-by-screening-service' });
    expect(run.problem().serviceMessage).toEqual(expect.any(String));
  });

  it('customer-code attaches the code', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('customer-code', orderId, 'PHONE-4711');
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ kind: 'customer-code', status: 'done' });
    expect(JSON.stringify(all.sandbox.control.customerCodes())).toContain('PHONE-4711');
  });

  it('recheck makes the order read its decision', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'pass@example.com');
    const run = await cli('recheck', orderId);
    expect([run.code, run.json()]).toEqual([0, { status: 'requested' }]);
    await all.until(orderId, ({ lastRead }) => lastRead?.source === 'operator');
  });

  it('acknowledge clears what needs attention', async () => {
    const orderId = anOrderId();
    await screen(orderId, 'review@example.com', '--integration', 'short');
    await all.until(orderId, ({ attention }) => attention.length > 0, 'short');
    const run = await cli('acknowledge', orderId, '--integration', 'short', '--reason', 'looked at');
    expect([run.code, run.json()]).toEqual([0, { cleared: expect.any(Number) }]);
    expect(run.json().cleared).toBeGreaterThan(0);
  });
});
