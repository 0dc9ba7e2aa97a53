/** What the interface leaves open: `docs/assumptions.md` says what is assumed. */
import { expect, test } from 'vitest';
import { client, failureOf, PORTAL, service, withService } from './client-harness.ts';

withService();

test.each(PORTAL)('%s is done after HTTP 200 with any 2xx code', async (_operation, call) => {
  for (const code of [200, '200', 201, '204', 299]) {
    service.answerJson(200, { code, message: 'Accepted' });
    expect(await call(client())).toMatchObject({ code: Number(code), message: 'Accepted' });
  }
  for (const code of [199, 302, '404']) {
    service.answerJson(200, { code, message: 'No' });
    expect(await failureOf(call(client()))).toMatchObject({ outcome: 'refused', reason: 'portal-refused' });
  }
});

test('what the screening service says is kept without card numbers, whatever their disguise', async () => {
  const said = 'seen before: 4111 1111 1111 1111, ④①①①①①①①①①①①①①①①, 4111,1111,1111,1111';
  service.answerJson(200, {
    ...{ id: '3f2c1a00-1b2c-4d5e-8f90-0123456789ab', decision: 'fail', message: said, sub_status: said },
    insights: { risk: { 1: { name: said, description: said, kind: said, impact: 'high' } } },
  });
  const reply = JSON.stringify(await client().status('1001'));
  expect(reply).toContain('seen before');
  expect(reply.normalize('NFKC').replace(/\D/g, '')).not.toContain('41111111');

  const chargeback = { transaction_id: '3f2c1a00-1b2c-4d5e-8f90-0123456789ab', notes: said, carrier: 'UPS' };
  service.answerJson(200, { code: 200, message: said, chargeback });
  const { chargeback: kept, ...done } = await client().submitChargeback({
    ...{ transactionId: chargeback.transaction_id, reason_code: '10.4', due_date: '2030-01-31' },
  });
  expect(kept).toEqual({ transaction_id: chargeback.transaction_id, carrier: 'UPS' });
  expect(JSON.stringify(done).normalize('NFKC').replace(/\D/g, '')).not.toContain('41111111');
});
