import type { FastifyInstance, FastifyReply } from 'fastify';
import { ZodError } from 'zod';
import {
  clockInput,
  coverageInput,
  decisionInput,
  keysInput,
  ledgerInput,
  portalInput,
  type SandboxControl,
  webhooksInput,
} from './control.ts';
import { faultPlanSchema } from './fault-plan.ts';
import type { TransactionRecord } from './model.ts';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

interface OfTransaction {
  Params: { idOrInvoice: string };
}

/**
 * The control plane by HTTP, for callers on the same machine only. Bad input is 400 with every fault listed:
 * `{"errors":[{"path","message"}]}`.
 */
export function controlRoutes(app: FastifyInstance, control: SandboxControl): void {
  app.addHook('onRequest', async (request, reply) => {
    if (LOOPBACK.test(request.socket.remoteAddress ?? '')) return;
    await reply.code(403).send(fault('', 'the control plane answers callers on this machine only'));
  });

  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ZodError) {
      const errors = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      return reply.code(400).send({ errors });
    }
    return reply.code(error.statusCode ?? 500).send(fault('', error.message));
  });

  app.get('/transactions', () => control.transactions());
  app.get<OfTransaction>('/transactions/:idOrInvoice', ({ params }, reply) =>
    known(reply, control.transactions(params.idOrInvoice)),
  );
  app.post<OfTransaction>('/transactions/:idOrInvoice/decision', ({ params, body }, reply) =>
    known(reply, control.decide(params.idOrInvoice, decisionInput.parse(body).decision)),
  );
  app.post<OfTransaction>('/transactions/:idOrInvoice/coverage', ({ params, body }, reply) =>
    known(reply, control.cover(params.idOrInvoice, coverageInput.parse(body).covered)),
  );
  app.get('/customer-codes', () => control.customerCodes());
  app.get('/ledger', ({ query }) => control.ledger(ledgerInput.parse(query)));

  app.get('/clock', () => control.clock());
  app.post('/clock', ({ body }) => control.setClock(clockInput.parse(body)));

  app.get('/faults', () => control.faults());
  app.post('/faults', ({ body }) => control.setFaults(faultPlanSchema.parse(body)));
  app.delete('/faults', () => control.clearFaults());

  app.get('/portal', () => control.portal());
  app.put('/portal', ({ body }) => control.setPortal(portalInput.parse(body)));

  app.put('/webhooks', ({ body }, reply) => {
    control.setWebhooks(webhooksInput.parse(body));
    return reply.code(204).send();
  });
  app.post('/keys', ({ body }, reply) => {
    control.setKeys(keysInput.parse(body));
    return reply.code(204).send();
  });
  app.post('/reset', (_request, reply) => {
    control.reset();
    return reply.code(204).send();
  });
}

function known(reply: FastifyReply, found: TransactionRecord[]): FastifyReply {
  if (found.length > 0) return reply.send(found);
  return reply.code(404).send(fault('', 'no transaction with this id or invoice number'));
}

function fault(path: string, message: string) {
  return { errors: [{ path, message }] };
}
