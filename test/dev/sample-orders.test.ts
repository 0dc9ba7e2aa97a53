import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { screenSampleOrders } from '../../src/dev/welcome.ts';

it('a sample order that is refused keeps none of the others from being screened', async () => {
  const api = fastify();
  onTestFinished(() => api.close());
  api.post<{ Params: { orderId: string } }>('/v1/orders/:orderId/screening', async ({ params }, reply) => {
    if (params.orderId === 'sample-fail') return reply.code(409).send({ type: '/problems/attempt-mismatch' });
    return { decision: 'pass', action: 'proceed', phase: 'decided' };
  });
  const { results, failures } = await screenSampleOrders(await api.listen({ port: 0, host: '127.0.0.1' }));
  expect(results.map(({ orderId }) => orderId)).toEqual([
    'sample-pass',
    'sample-review',
    'sample-fraudulent',
    'sample-error',
    'sample-pre-gateway',
  ]);
  expect(failures).toEqual([expect.stringMatching(/sample-fail.* 409: .*attempt-mismatch/)]);
});
