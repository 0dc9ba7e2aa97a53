import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PORTAL_OPERATIONS } from '../../src/sandbox/model.ts';
import { created, DAY_MS, decidedAs, LIVE_KEY, portal, send, startSandbox, TEST_KEY } from './support.ts';

const chargeback = (transaction_id: string, changes = {}) => ({
  transaction_id,
  reason_code: '10.4',
  due_date: '2030-01-31',
  ...changes,
});

describe('every portal action', () => {
  it.each(PORTAL_OPERATIONS)('%s answers 403 for a wrong key', async (action) => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    for (const nf_token of ['wrong', undefined]) {
      const body = { ...chargeback(id), customer_code: 'c', email: 'a@example.com', nf_token };
      const reply = await send('POST', `${sandbox.portalBaseUrl}/${action}`, body);
      expect([reply.status, reply.body]).toEqual([403, { Errors: ['Not Authorized'] }]);
    }
  });

  it.each(PORTAL_OPERATIONS)(
    '%s refuses a body without its fields by the code in the body',
    async (action) => {
      const sandbox = await startSandbox();
      const reply = await portal(sandbox, action, {});
      expect([reply.status, reply.body.code]).toEqual([200, 400]);
      expect(reply.body.message).toMatch(
        action === 'customer-code' ? /customer_code, email/ : /transaction_id/,
      );
      expect(sandbox.control.ledger()).toMatchObject([
        { committed: false, outcome: { status: 200, code: 400 } },
      ]);
    },
  );

  it.each(PORTAL_OPERATIONS.slice(1))(
    '%s refuses an unknown transaction, and one of another mode',
    async (action) => {
      const sandbox = await startSandbox();
      const unknown = await portal(sandbox, action, chargeback(randomUUID()));
      expect([unknown.status, unknown.body.code]).toEqual([200, 404]);
      const other = await portal(sandbox, action, {
        ...chargeback(await created(sandbox)),
        nf_token: LIVE_KEY,
      });
      expect(other.body.code).toBe(404);
    },
  );

  it('gives its code as a number, as text, or now so and now so', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    const code = async () => (await portal(sandbox, 'cancel-transaction', { transaction_id: id })).body.code;
    expect(await code()).toBe(200);
    sandbox.control.setPortal({ codeType: 'string' });
    expect(await code()).toBe('200');
    sandbox.control.setPortal({ codeType: 'alternating' });
    expect([await code(), await code()].sort()).toEqual([200, '200']);
  });
});

describe('customer-code', () => {
  it('is created with the known reply', async () => {
    const sandbox = await startSandbox();
    const body = { customer_code: 'PH-77', email: 'caller@example.com' };
    const reply = await portal(sandbox, 'customer-code', body);
    expect([reply.status, reply.body]).toEqual([
      200,
      { code: 200, message: 'customer code created successfully' },
    ]);
    expect(sandbox.control.customerCodes()).toMatchObject([
      { customerCode: 'PH-77', email: 'caller@example.com' },
    ]);
  });
});

describe('report-fraud', () => {
  it('alerts the analysts and leaves the decision to them', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    expect((await portal(sandbox, 'report-fraud', { transaction_id: id })).body.code).toBe(200);
    expect(sandbox.control.transactions(id)).toMatchObject([
      { decision: 'pass', fraudReports: [expect.any(String)] },
    ]);
    expect(sandbox.control.ledger({ operation: 'alert' })).toMatchObject([
      { transactionId: id, committed: true },
    ]);
    sandbox.control.decide(id, 'fraudulent');
    const status = await send('GET', `${sandbox.testBaseUrl}/status/${TEST_KEY}/${id}`);
    expect(status.body.decision).toBe('fraudulent');
  });
});

describe('cancel-transaction', () => {
  it('cancels once, and a repeat does no harm', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    for (let i = 0; i < 2; i++) {
      expect((await portal(sandbox, 'cancel-transaction', { transaction_id: id })).body.code).toBe(200);
    }
    expect(sandbox.control.transactions(id)[0]?.canceledAt).toEqual(expect.any(String));
    expect(
      sandbox.control.ledger({ operation: 'cancel-transaction' }).map(({ committed }) => committed),
    ).toEqual([true, false]);
  });

  it('is possible up to 5 days after the create on the sandbox clock, and refused after', async () => {
    const sandbox = await startSandbox();
    const [inTime, late] = [await created(sandbox), await created(sandbox)];
    sandbox.control.setClock({ advanceMs: 5 * DAY_MS - 60_000 });
    expect((await portal(sandbox, 'cancel-transaction', { transaction_id: inTime })).body.code).toBe(200);
    sandbox.control.setClock({ advanceMs: 60_000 });
    const refused = await portal(sandbox, 'cancel-transaction', { transaction_id: late });
    expect([refused.status, refused.body.code]).toEqual([200, 403]);
    expect(refused.body.message).toMatch(/within 5 days/);
    expect(sandbox.control.transactions(late)[0]?.canceledAt).toBeNull();
    const again = await portal(sandbox, 'cancel-transaction', { transaction_id: inTime });
    expect(again.body.code).toBe(200);
  });

  it('keeps another window when it is told to', async () => {
    const sandbox = await startSandbox();
    sandbox.control.setPortal({ cancelWindowMs: 1_000 });
    const id = await created(sandbox);
    sandbox.control.setClock({ advanceMs: 1_001 });
    expect((await portal(sandbox, 'cancel-transaction', { transaction_id: id })).body.code).toBe(403);
  });
});

describe('submit-chargeback', () => {
  it('echoes the fields that were sent', async () => {
    const sandbox = await startSandbox();
    const fields = chargeback(await created(sandbox), {
      notice_date: '2030-01-01',
      reference_number: 'R-1',
      carrier: 'Post',
      carrier_tracking_number: 'T-1',
      notes: 'none',
      inquiry: 'false',
    });
    const reply = await portal(sandbox, 'submit-chargeback', fields);
    expect(reply.body).toEqual({ code: 200, message: expect.any(String), chargeback: fields });
  });

  it.each(['pass', 'fraudulent'])('is allowed while the status is %s', async (word) => {
    const sandbox = await startSandbox();
    const id = await created(sandbox, decidedAs(word));
    expect((await portal(sandbox, 'submit-chargeback', chargeback(id))).body.code).toBe(200);
  });

  it.each(['fail', 'review', 'error'])(
    'is refused while the status is %s, and allowed after it became pass',
    async (word) => {
      const sandbox = await startSandbox();
      const id = await created(sandbox, decidedAs(word));
      const refused = await portal(sandbox, 'submit-chargeback', chargeback(id));
      expect([refused.status, refused.body.code, 'chargeback' in refused.body]).toEqual([200, 403, false]);
      sandbox.control.decide(id, 'pass');
      expect((await portal(sandbox, 'submit-chargeback', chargeback(id))).body.code).toBe(200);
      expect(sandbox.control.transactions(id)[0]?.chargebacks).toHaveLength(1);
    },
  );

  it('is refused for a transaction without chargeback protection', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    sandbox.control.cover(id, false);
    const refused = await portal(sandbox, 'submit-chargeback', chargeback(id));
    expect([refused.body.code, refused.body.message]).toEqual([403, expect.stringMatching(/not covered/)]);
    sandbox.control.setPortal({ covered: false });
    const later = await created(sandbox);
    expect((await portal(sandbox, 'submit-chargeback', chargeback(later))).body.code).toBe(403);
  });

  it.each([
    { reason_code: undefined },
    { due_date: undefined },
    { due_date: '31/01/2030' },
    { notice_date: 'soon' },
    { inquiry: 'yes' },
  ])('is refused with %o', async (changes) => {
    const sandbox = await startSandbox();
    const reply = await portal(sandbox, 'submit-chargeback', chargeback(await created(sandbox), changes));
    expect(reply.body.code).toBe(400);
    expect(reply.body.message).toContain(Object.keys(changes)[0]);
  });

  it('is recorded again when it is sent again', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    await portal(sandbox, 'submit-chargeback', chargeback(id));
    await portal(sandbox, 'submit-chargeback', chargeback(id));
    expect(sandbox.control.transactions(id)[0]?.chargebacks).toHaveLength(2);
  });
});
