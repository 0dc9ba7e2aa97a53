import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { created, send, startSandbox, TEST_KEY } from './support.ts';

describe('gateway_response', () => {
  it('records the result and answers Status OK, in either spelling', async () => {
    const sandbox = await startSandbox();
    const id = await created(sandbox);
    const url = `${sandbox.testBaseUrl}/gateway_response`;
    const definition = await send('POST', url, {
      'nf-token': TEST_KEY,
      'nf-id': id,
      'gateway-response': { result: 'pass', authcode: '00AA', 'transaction-id': 'g-1' },
    });
    expect([definition.status, definition.body]).toEqual([200, { Status: 'OK' }]);
    const sample = await send('POST', url, {
      nfToken: TEST_KEY,
      nfId: id,
      gatewayResponse: { result: 'fail', transactionId: 'g-2' },
    });
    expect(sample.body).toEqual({ Status: 'OK' });
    expect(sandbox.control.transactions(id)[0]?.gatewayResponses).toMatchObject([
      { result: 'pass', authcode: '00AA', transactionId: 'g-1' },
      { result: 'fail', authcode: null, transactionId: 'g-2' },
    ]);
    expect(sandbox.control.ledger({ operation: 'gateway-response' })).toMatchObject([
      { committed: true, transactionId: id, invoiceNumber: 'A-1' },
      { committed: true, transactionId: id, invoiceNumber: 'A-1' },
    ]);
  });

  it('says what is wrong with nf-id', async () => {
    const { testBaseUrl } = await startSandbox();
    const answer = async (id: unknown) => {
      const { status, body } = await send('POST', `${testBaseUrl}/gateway_response`, {
        'nf-token': TEST_KEY,
        'nf-id': id,
      });
      return [status, body.Errors[0]];
    };
    expect(await answer(undefined)).toEqual([400, 'nf-id field is not defined.']);
    for (const id of ['', 'not-a-uuid', 7]) {
      expect(await answer(id)).toEqual([
        400,
        expect.stringMatching(/empty or malformed.*initial transaction/),
      ]);
    }
    expect(await answer(randomUUID())).toEqual([404, 'Transaction Not Found']);
  });

  it('answers 403 for a wrong key', async () => {
    const sandbox = await startSandbox();
    const body = { 'nf-token': 'wrong', 'nf-id': await created(sandbox) };
    const reply = await send('POST', `${sandbox.testBaseUrl}/gateway_response`, body);
    expect([reply.status, reply.body]).toEqual([403, { Errors: ['Not Authorized'] }]);
  });
});
