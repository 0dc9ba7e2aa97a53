import { fastify } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { screenSampleOrders } from '../../src/dev/welcome.ts';

it('a sample order that is refused does not stop the others', async () => {
  const api = fastify();
  onTestFinished(() => api.close());
  api.post<{ Params: { orderId: string } }>('/v1/orders/:orderId/screening', async ({ params }, reply) => {
    if (params.orderId === 'sample-fail') return reply.code(409).send({ type: '/problems/attempt-mismatch' });
    return { decision: 'pass', action: 'proceed', phase: 'decided' };
  });
  const apiUrl = await api.listen({ port: 0, host: '127.0.0.1' });

  const shown = await screenSampleOrders({ apiUrl });

  for (const name of ['pass', 'review', 'fraudulent', 'error', 'pre-gateway']) {
    expect(shown).toMatch(new RegExp(`sample-${name} .* pass .* proceed .* ms`));
  }
  expect(shown).toMatch(/Not screened: .*sample-fail.* 409: .*attempt-mismatch/);
});
