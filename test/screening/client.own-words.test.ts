import { describe, expect, it, test } from 'vitest';
import { client, failureOf, OPERATIONS, PORTAL, service, withService } from './client-harness.ts';

withService();

const SCREENING = OPERATIONS.slice(0, 5);
const LOOK_UPS = OPERATIONS.slice(2, 5);
const WRITES = OPERATIONS.filter((one) => !LOOK_UPS.includes(one));
const UNKNOWN = { outcome: 'unknown', reason: 'malformed-reply' };
const WRONG_KEY = { outcome: 'refused', reason: 'forbidden' };

describe.each(OPERATIONS)('%s', (_operation, call) => {
  it.each([400, 401, 403, 404, 405, 422])(
    'is unknown after HTTP %i with the page of a proxy',
    async (status) => {
      service.answerJson(status, '<html><h1>Blocked</h1></html>', { 'content-type': 'text/html' });
      expect(await failureOf(call(client()))).toMatchObject({ ...UNKNOWN, status });
    },
  );

  it.each([{}, { Errors: [] }, { Errors: 'Blocked' }, { message: 'Forbidden' }, { code: 403 }])(
    'is unknown after HTTP 403 with %j',
    async (body) => {
      service.answerJson(403, body);
      expect(await failureOf(call(client()))).toMatchObject(UNKNOWN);
    },
  );

  it.each(['Not Authorized', 'not authorized.'])('knows a wrong key by «%s»', async (words) => {
    service.answerJson(403, { Errors: [words] });
    expect(await failureOf(call(client()))).toMatchObject({ ...WRONG_KEY, words: [words] });
  });
});

test.each(SCREENING)(
  '%s takes code and message for nobody’s words, since only the portal says so',
  async (_, call) => {
    service.answerJson(400, { code: 400, message: 'Bad Request' });
    expect(await failureOf(call(client()))).toMatchObject(UNKNOWN);
  },
);

describe.each(LOOK_UPS)('%s', (_operation, call) => {
  it.each(['Transaction Not Found', 'transaction not found.'])('finds none after «%s»', async (words) => {
    service.answerJson(404, { Errors: [words] });
    expect(await failureOf(call(client()))).toMatchObject({ outcome: 'refused', reason: 'not-found' });
  });

  it.each(['Not Found', 'no Route matched', 'Transaction Not Found in this cache'])(
    'finds out nothing after «%s»',
    async (words) => {
      service.answerJson(404, { Errors: [words] });
      expect(await failureOf(call(client()))).toMatchObject(UNKNOWN);
    },
  );
});

test.each(WRITES)('%s is refused by a 404 with the service’s words', async (_operation, call) => {
  service.answerJson(404, { Errors: ['Transaction Not Found'] });
  expect(await failureOf(call(client()))).toMatchObject({ outcome: 'refused', reason: 'not-found' });
});

describe.each(PORTAL)('%s', (_operation, call) => {
  const asHttp = async (status: number, body: object) => {
    service.answerJson(status, body);
    return failureOf(call(client()));
  };

  test.each([
    'Not Authorized',
    'You are not authorized',
    'Invalid token',
    'Invalid nf_token.',
    'Unknown API key',
    'The API-key has expired',
  ])('knows a wrong key by «%s»', async (message) => {
    expect(await asHttp(403, { code: 403, message })).toMatchObject(WRONG_KEY);
    expect(await asHttp(200, { code: '403', message })).toMatchObject({ ...WRONG_KEY, code: 403 });
    expect(await asHttp(401, { code: 'NOT_AUTHORIZED', message: 'No' })).toMatchObject(WRONG_KEY);
  });

  test.each([
    'Transaction is not covered',
    'This transaction is not authorized for a chargeback',
    'A transaction can be canceled only within 5 days of its screening.',
  ])('is refused by «%s», whatever the status', async (message) => {
    const refused = { outcome: 'refused', words: [message], code: 403 };
    expect(await asHttp(403, { code: 403, message })).toMatchObject({ ...refused, reason: 'bad-request' });
    expect(await asHttp(200, { code: 403, message })).toMatchObject({ ...refused, reason: 'portal-refused' });
  });

  test.each([201, '204', 299])('is unknown when HTTP 200 comes with code %j', async (code) => {
    expect(await asHttp(200, { code, message: 'Accepted' })).toMatchObject(UNKNOWN);
  });

  it('is refused by `Errors` also where HTTP 200 and no code come with them', async () => {
    const words = ['Transaction is not covered'];
    expect(await asHttp(200, { Errors: words })).toMatchObject({
      ...{ outcome: 'refused', reason: 'portal-refused', words },
    });
    expect(await asHttp(200, { Errors: ['Not Authorized'] })).toMatchObject(WRONG_KEY);
    expect(await asHttp(200, { Errors: [''] })).toMatchObject(UNKNOWN);
    expect(await asHttp(202, { Errors: words })).toMatchObject(UNKNOWN);
  });

  it('is unknown when a code comes without words', async () => {
    expect(await asHttp(200, { code: 409 })).toMatchObject({ ...UNKNOWN, code: 409 });
  });
});
