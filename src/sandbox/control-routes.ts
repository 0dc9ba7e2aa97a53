import type { FastifyInstance, FastifyReply } from 'fastify';
import { ZodError, z } from 'zod';
import { controlInputs, type SandboxControl } from './control.ts';
import { faultPlanSchema } from './fault-plan.ts';
import { ledgerFilter } from './ledger.ts';
import { DECISIONS, type TransactionRecord } from './model.ts';

const decisionInput = z.strictObject({ decision: z.enum(DECISIONS) });
const coverageInput = z.strictObject({ covered: z.boolean() });

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;
/** Allowed Host headers. Protects against DNS rebinding, where a website's own host name resolves to this machine. */
const LOOPBACK_NAME = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})(?::\d{1,5})?$/i;

interface OfTransaction {
  Params: { idOrInvoice: string };
}

/**
 * The HTTP control plane, for callers on the same machine only. Invalid input returns 400 with every error:
 * `{"errors":[{"path","message"}]}`.
 */
export function controlRoutes(app: FastifyInstance, control: SandboxControl): void {
  app.addHook('onRequest', async (request, reply) => {
    const { socket, headers } = request;
    if (LOOPBACK.test(socket.remoteAddress ?? '') && LOOPBACK_NAME.test(headers.host ?? '')) return;
    await sendError(
      reply,
      403,
      'the control plane is available only on this machine, at localhost or 127.0.0.1',
    );
  });

  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ZodError) {
      const errors = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      return reply.code(400).send({ errors });
    }
    return sendError(reply, error.statusCode ?? 500, error.message);
  });

  app.get('/transactions', () => control.transactions());
  app.get<OfTransaction>('/transactions/:idOrInvoice', ({ params }, reply) =>
    sendFound(reply, control.transactions(params.idOrInvoice)),
  );
  app.post<OfTransaction>('/transactions/:idOrInvoice/decision', ({ params, body }, reply) =>
    sendFound(reply, control.decide(params.idOrInvoice, decisionInput.parse(body).decision)),
  );
  app.post<OfTransaction>('/transactions/:idOrInvoice/coverage', ({ params, body }, reply) =>
    sendFound(reply, control.cover(params.idOrInvoice, coverageInput.parse(body).covered)),
  );
  app.get('/customer-codes', () => control.customerCodes());
  app.get('/ledger', ({ query }) => control.ledger(ledgerFilter.parse(query)));

  app.get('/clock', () => control.clock());
  app.post('/clock', ({ body }) => control.setClock(controlInputs.clock.parse(body)));

  app.get('/faults', () => control.faults());
  app.post('/faults', ({ body }) => control.setFaults(faultPlanSchema.parse(body)));
  app.delete('/faults', () => control.clearFaults());

  app.get('/portal', () => control.portal());
  app.put('/portal', ({ body }) => control.setPortal(controlInputs.portal.parse(body)));
  app.put('/screening', ({ body }) => control.setScreening(controlInputs.screening.parse(body)));

  app.put('/webhooks', ({ body }, reply) => {
    control.setWebhooks(controlInputs.webhooks.parse(body));
    return reply.code(204).send();
  });
  app.post('/keys', ({ body }, reply) => {
    control.setKeys(controlInputs.keys.parse(body));
    return reply.code(204).send();
  });
  app.post('/reset', (_request, reply) => {
    control.reset();
    return reply.code(204).send();
  });
}

function sendFound(reply: FastifyReply, found: TransactionRecord[]): FastifyReply {
  if (found.length > 0) return reply.send(found);
  return sendError(reply, 404, 'no transaction with this id or invoice number');
}

function sendError(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ errors: [{ path: '', message }] });
}
