/** What the interface leaves open: `docs/assumptions.md` says what is assumed. */
import { expect, test } from 'vitest';
import { client, failureOf, OPERATIONS, PORTAL, service, withService } from './client-harness.ts';

withService();

const SCREENING = OPERATIONS.slice(0, 5);

test.each(SCREENING)('%s has a wrong key after 401 and 403, whatever the text', async (_operation, call) => {
  const bodies = [{ Errors: ['Not Authorized'] }, { Errors: ['Key revoked'] }, { message: 'Forbidden' }, {}];
  for (const body of [...bodies, '<html><h1>Forbidden</h1></html>']) {
    for (const status of [401, 403]) {
      service.answerJson(status, body);
      expect(await failureOf(call(client()))).toMatchObject({
        outcome: 'refused',
        reason: 'forbidden',
        status,
      });
    }
  }
});

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
