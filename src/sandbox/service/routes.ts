/** The HTTP interface of the screening service: the screening API at one address per mode, and the portal-action API. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Ledger } from '../ledger.ts';
import { type Mode, PORTAL_OPERATIONS, type Subject } from '../model.ts';
import { bareInvoiceNumber, type SandboxState } from '../state.ts';
import type { Gate } from './gate.ts';
import { createPortalService } from './portal-service.ts';
import { createScreeningService } from './screening-service.ts';
import { asObject, inDefinitionSpelling } from './spelling.ts';

interface RouteParts {
  readonly state: SandboxState;
  readonly gate: Gate;
  readonly ledger: Ledger;
}

/** Registers the screening API at one base address, which accepts only the key of its mode. */
export function screeningRoutes(app: FastifyInstance, base: Mode, { state, gate }: RouteParts): void {
  const screening = createScreeningService(state, base);

  // The paths of the definition and of the usage samples.
  for (const path of ['/transaction', '/']) {
    app.post(path, (request, reply) => {
      const body = inDefinitionSpelling(request.body);
      const subject = subjectOfOrder(body.order);
      const answer = () => screening.create(body);
      return gate.pass(
        { operation: 'create-transaction', base, key: body['nf-token'], subject, answer },
        reply,
      );
    });
  }

  app.post('/gateway_response', (request, reply) => {
    const body = inDefinitionSpelling(request.body);
    const subject = state.subjectOf(body['nf-id']);
    const answer = () => screening.gatewayResponse(body);
    return gate.pass({ operation: 'gateway-response', base, key: body['nf-token'], subject, answer }, reply);
  });

  const statuses = [
    ['status', '/status', screening.status],
    ['status-by-url', '/status_by_url', screening.statusById],
    ['status-by-invoice', '/status_by_invoice', screening.statusByInvoice],
  ] as const;
  for (const [operation, path, read] of statuses) {
    app.get<StatusRoute>(`${path}/:key/:of`, ({ params: { key, of } }, reply) => {
      const answer = () => read(of);
      return gate.pass({ operation, base, key, subject: subjectOfStatus(state, of), answer }, reply);
    });
  }
}

function subjectOfOrder(order: unknown): Subject {
  const { invoiceNumber } = asObject(order);
  const bare = typeof invoiceNumber === 'string' ? bareInvoiceNumber(invoiceNumber) : null;
  return { transactionId: null, invoiceNumber: bare };
}

function subjectOfStatus(state: SandboxState, idOrInvoice: string): Subject {
  return z.guid().safeParse(idOrInvoice).success
    ? state.subjectOf(idOrInvoice)
    : { transactionId: null, invoiceNumber: idOrInvoice };
}

interface StatusRoute {
  Params: { key: string; of: string };
}

export function portalRoutes(app: FastifyInstance, { state, gate, ledger }: RouteParts): void {
  const portal = createPortalService(state, ledger);
  for (const operation of PORTAL_OPERATIONS) {
    app.post(`/${operation}`, (request, reply) => {
      const body = asObject(request.body);
      const subject = state.subjectOf(body.transaction_id);
      const answer = (mode: Mode) => portal.act(operation, mode, body);
      return gate.pass({ operation, base: 'portal', key: body.nf_token, subject, answer }, reply);
    });
  }
}
