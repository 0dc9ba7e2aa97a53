/** What a proxy in between answers by itself is no word of the service. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stubService } from '../screening/stub-service.ts';
import { act, aPortalRequest, KINDS } from './portal-support.ts';
import { aCatchUp, aWorld, failureOf, outcomeOf, withSandbox } from './support.ts';

withSandbox();

describe('the page of a proxy', () => {
  let proxy: Awaited<ReturnType<typeof stubService>>;
  beforeAll(async () => {
    proxy = await stubService();
  });
  afterAll(() => proxy.close());

  const behindProxy = (status: number) => {
    proxy.answerJson(status, '<html>no backend</html>', { 'content-type': 'text/html' });
    return aWorld({ baseUrl: proxy.url, portalBaseUrl: `${proxy.url}/api/v1/transaction-update` });
  };

  it.each([400, 403, 404, 405])('is no refusal of an order: HTTP %i', async (status) => {
    const world = behindProxy(status);
    const outcome = await outcomeOf(world.checkout.screenRetry, aCatchUp());
    expect(outcome).toEqual({
      kind: 'unanswered',
      reason: 'malformed-reply',
      unseenSince: expect.any(String),
    });
    const failure = await failureOf(outcomeOf(world.background.catchUp, aCatchUp()));
    expect(failure).toMatchObject({ type: 'malformed-reply', nextRetryDelay: 10_000 });
  });

  it.each([400, 403, 404, 405])('does not lose a gateway’s result: HTTP %i', async (status) => {
    const request = { integration: 'default', transactionId: 'x', gateway: { result: 'pass' } as const };
    const call = outcomeOf(behindProxy(status).background.sendGatewayResponse, {
      ...request,
      forbiddenKnown: false,
    });
    expect(await failureOf(call)).toMatchObject({ type: 'malformed-reply', nonRetryable: false });
  });

  describe.each(KINDS)('for %s', (kind) => {
    it.each([400, 403, 404, 405])('is an unknown outcome: HTTP %i', async (status) => {
      const call = act(aPortalRequest(kind), {}, [], behindProxy(status));
      if (kind === 'chargeback') expect(await call).toEqual({ kind: 'unconfirmed' });
      else expect(await failureOf(call)).toMatchObject({ type: 'malformed-reply', nextRetryDelay: 1_000 });
    });

    it('is told from the portal’s own refusal', async () => {
      const world = behindProxy(403);
      proxy.answerJson(403, { code: 403, message: 'Transaction is not covered' });
      expect(await act(aPortalRequest(kind), {}, [], world)).toEqual({
        kind: 'refused',
        code: '403',
        message: 'Transaction is not covered',
      });
      proxy.answerJson(200, { Errors: ['Transaction is not covered'] });
      expect(await act(aPortalRequest(kind), {}, [], world)).toEqual({
        kind: 'refused',
        message: 'Transaction is not covered',
      });
    });
  });
});
