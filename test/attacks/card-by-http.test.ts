/** Card data in every place of every request by HTTP: it is refused, before anybody else sees it, and nothing of it is shown. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anIntegration, finding } from '../fixtures/integrations.ts';
import { aPreGatewayTransaction, TEST_CARD } from '../fixtures/transactions.ts';
import { anApi, TRANSACTION_ID } from '../server/api/fake-order-screening.ts';
import { POSTS } from '../server/api/operations.ts';
import { sendForm } from '../server/dashboard/support.ts';
import {
  CARD_LIKE_ID,
  card,
  cardNumber,
  disguised,
  disguisedInAscii,
  expectNothingOf,
  order,
  placesOf,
  planted,
  planting,
  REFUSED,
} from './card-disguises.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const bodies = [
  ...POSTS,
  { path: '/v1/orders/order-1/screening', body: { attempt: 1, transaction: order } },
  { path: '/v1/orders/order-1/screening', body: { transaction: aPreGatewayTransaction({ payment: card }) } },
];

const CARD_PLACES = /(?:^|transaction\.payment\.creditCard\.)(?:cardNumber|expirationDate|cardCode)$/;
const isForCards = (path: string, place: readonly string[]) =>
  /screening|card-refs/.test(path) && CARD_PLACES.test(place.join('.'));

/** A request in which one place holds a plant. */
const requests = fc
  .constantFrom(...bodies)
  .chain(({ path, body }) =>
    fc
      .tuple(fc.constantFrom(...placesOf(body).filter((place) => !isForCards(path, place))), planted)
      .map(([place, plant]) => ({ path, body: planting(body, place, plant), plant })),
  );

describe('by HTTP card data is refused', () => {
  it('in every place of every body, and nothing is asked of the order', async () => {
    const { app, orderScreening, logged } = await anApi();
    await fc.assert(
      fc.asyncProperty(requests, async ({ path, body, plant }) => {
        const payload = JSON.stringify(body);
        const response = await app.inject({ method: 'POST', url: path, headers: JSON_TYPE, payload });
        expect(response.json()).toMatchObject({ status: 422, type: `/problems/${REFUSED}` });
        expectNothingOf(plant, response.body);
      }),
      { numRuns: 1_000 },
    );
    for (const method of Object.values(orderScreening)) expect(method).not.toHaveBeenCalled();
    expect(logged()).not.toMatch(/[345]\d{13}/);
  });

  it('in every id, query, kept header and page, and no way back repeats it', async () => {
    const { app, orderScreening } = await anApi();
    const one = fc.tuple(disguised, disguisedInAscii, cardNumber);
    await fc.assert(
      fc.asyncProperty(one, async ([text, ascii, digits]) => {
        const id = encodeURIComponent(text);
        const key = { 'idempotency-key': ascii };
        const form = (url: string, fields = {}) => sendForm(app, url, new URLSearchParams(fields).toString());
        const byApi = await Promise.all([
          app.inject(`/v1/orders/${id}`),
          app.inject({ method: 'POST', url: `/v1/orders/${id}/recheck` }),
          app.inject({ method: 'POST', url: `/v1/orders/${id}/screening`, body: { transaction: order } }),
          app.inject({ method: 'POST', url: '/v1/orders/o-1/cancel', headers: key, body: {} }),
          app.inject({ method: 'DELETE', url: '/v1/orders/o-1/actions/1', headers: key }),
          app.inject(`/v1/orders?cursor=${id}`),
          app.inject(`/v1/orders?find=${id}`),
          app.inject(`/v1/orders?order=default%2F${id}`),
          app.inject(`/v1/transactions/${id}`),
          app.inject(`/v1/orders/o-1?integration=${digits}`),
          app.inject(`/v1/orders/o-1?${id}=1`),
        ]);
        for (const response of byApi) expect(response.json()).toMatchObject({ type: `/problems/${REFUSED}` });
        const byPages = await Promise.all([
          form('/orders/o-1/cancel', { reason: text }),
          form('/orders/o-1/cancel', { [text]: 'x' }),
          form(`/orders/${id}/cancel`),
          form(`/orders/${id}/recheck`),
          form('/several', { do: 'recheck', order: `default/${text}` }),
          form('/several', { do: 'recheck', order: `proceed ${digits} default/o-1` }),
          form('/several', { do: 'recheck', order: 'default/o-1', from: `q=${id}` }),
          form('/several', { do: 'recheck', order: 'default/o-1', from: `q=o-1&q=${digits}` }),
          form('/several', { do: 'recheck', order: 'default/o-1', from: `q=o-1&list=${digits}` }),
          app.inject(`/several?do=recheck&order=default%2F${id}`),
          app.inject(`/orders/o-1?from=${encodeURIComponent(`q=${id}`)}`),
          app.inject(`/?q=${id}`),
          app.inject(`/orders/${id}`),
        ]);
        for (const response of [...byApi, ...byPages]) {
          expect(response.statusCode).toBe(422);
          expect(response.body).not.toContain(id);
          expectNothingOf(text, response.body);
        }
      }),
      { numRuns: 60 },
    );
    for (const method of Object.values(orderScreening)) expect(method).not.toHaveBeenCalled();
  });

  it('but not in the card’s own fields, nor in a webhook', async () => {
    const { app, orderScreening } = await anApi();
    const transaction = aPreGatewayTransaction();
    const url = '/v1/orders/o-1/screening';
    expect((await app.inject({ method: 'POST', url, body: { transaction } })).statusCode).toBe(200);
    const stashed = { orderId: 'o-1', ...TEST_CARD };
    expect((await app.inject({ method: 'POST', url: '/v1/card-refs', body: stashed })).statusCode).toBe(201);
    const hook = '/v1/webhooks/default/webhook-secret-1';
    const body = { id: TRANSACTION_ID, invoiceNumber: CARD_LIKE_ID, decision: 'pass' };
    expect((await app.inject({ method: 'POST', url: hook, body })).statusCode).toBe(202);
    expect(orderScreening.hint).toHaveBeenCalledOnce();
  });

  it('but not in an id that the policy of its integration vouches for', async () => {
    const { app } = await anApi({ findIntegration: finding(anIntegration({ notCards: ['orderId'] })) });
    const get = (url: string) => app.inject({ method: 'GET', url });
    expect((await get(`/v1/orders/${CARD_LIKE_ID}`)).statusCode).toBe(200);
    expect((await get(`/v1/orders/${CARD_LIKE_ID}?integration=other`)).statusCode).toBe(422);
  });

  /** Requests that name an order by its id under a different name. */
  const naming = (id: string, integration: string) => [
    `/v1/orders?find=${id}&integration=${integration}`,
    `/v1/transactions/${id}?integration=${integration}`,
    `/?q=${id}&integration=${integration}`,
    `/orders/o-1?from=${encodeURIComponent(`q=${id}&integration=${integration}`)}`,
    `/several?do=recheck&order=${integration}%2F${id}&order=${integration}%2Fo-1`,
  ];
  const everywhere = (id: string) => [`/v1/orders?find=${id}`, `/?q=${id}&integration=`, `/?q=${id}`];

  it('but not in an order id, whatever the request calls it', async () => {
    const id = '6012345678907';
    const { app } = await anApi();
    for (const url of [`/v1/orders/${id}`, ...naming(id, 'shop'), ...everywhere(id)])
      expect((await app.inject(url)).statusCode, url).toBe(200);
    const fields = `do=recheck&order=shop%2F${id}&from=q%3D${id}`;
    expect((await sendForm(app, '/several', fields)).statusCode).toBe(200);
  });

  it('but not in such an id that the policy of its integration vouches for', async () => {
    const findIntegration = finding(anIntegration({ notCards: ['orderId'] }));
    const { app } = await anApi({ findIntegration, integrations: ['shop', 'default'] });
    for (const [status, urls] of [
      [200, [...naming(CARD_LIKE_ID, 'default'), ...everywhere(CARD_LIKE_ID)]],
      [422, naming(CARD_LIKE_ID, 'shop')],
    ] as const)
      for (const url of urls) expect((await app.inject(url)).statusCode, url).toBe(status);
  });
});
