import type { FastifyInstance } from 'fastify';
import { notAuthorized } from './answers.ts';
import type { Gate } from './gate.ts';
import { type Answer, type Mode, PORTAL_OPERATIONS, type Subject } from './model.ts';
import type { PortalService } from './portal-service.ts';
import type { ScreeningService } from './screening-service.ts';
import { asObject, inDefinitionSpelling } from './transaction-request.ts';

/** The API keys that are valid now. */
export type Keys = Record<Mode, string>;

export interface RouteParts {
  readonly gate: Gate;
  readonly screening: ScreeningService;
  readonly portal: PortalService;
  /** Read at each request, for the control plane may switch them. */
  readonly keys: () => Keys;
}

/** The screening API at one base address, which takes the key of its own mode only. */
export function screeningRoutes(app: FastifyInstance, mode: Mode, parts: RouteParts): void {
  const { gate, screening, keys } = parts;
  const guarded = (key: unknown, answer: () => Answer) => () =>
    key === keys()[mode] ? answer() : notAuthorized();

  // The definition's path and the one of the usage samples.
  for (const path of ['/transaction', '/']) {
    app.post(path, (request, reply) => {
      const body = inDefinitionSpelling(request.body);
      const subject = screening.subjectOfCreate(body);
      const answer = guarded(body['nf-token'], () => screening.create(mode, body));
      return gate.pass({ operation: 'create-transaction', base: mode, subject, answer }, reply);
    });
  }

  app.post('/gateway_response', (request, reply) => {
    const body = inDefinitionSpelling(request.body);
    const subject = screening.subjectOfGatewayResponse(body);
    const answer = guarded(body['nf-token'], () => screening.gatewayResponse(mode, body));
    return gate.pass({ operation: 'gateway-response', base: mode, subject, answer }, reply);
  });

  app.get<StatusRoute>('/status/:key/:of', ({ params: { key, of } }, reply) => {
    const answer = guarded(key, () => screening.status(mode, of));
    const subject = screening.subjectOfStatus(of);
    return gate.pass({ operation: 'status', base: mode, subject, answer }, reply);
  });

  app.get<StatusRoute>('/status_by_url/:key/:of', ({ params: { key, of } }, reply) => {
    const answer = guarded(key, () => screening.statusById(mode, of));
    const subject = screening.subjectOfStatus(of);
    return gate.pass({ operation: 'status-by-url', base: mode, subject, answer }, reply);
  });

  app.get<StatusRoute>('/status_by_invoice/:key/:of', ({ params: { key, of } }, reply) => {
    const answer = guarded(key, () => screening.statusByInvoice(mode, of));
    const subject: Subject = { transactionId: null, invoiceNumber: of };
    return gate.pass({ operation: 'status-by-invoice', base: mode, subject, answer }, reply);
  });
}

interface StatusRoute {
  Params: { key: string; of: string };
}

/** The portal-action API: one address for both modes, so the key tells the mode. */
export function portalRoutes(app: FastifyInstance, { gate, portal, keys }: RouteParts): void {
  for (const operation of PORTAL_OPERATIONS) {
    app.post(`/${operation}`, (request, reply) => {
      const body = asObject(request.body);
      const answer = (): Answer => {
        const { test, live } = keys();
        if (body.nf_token === test) return portal.act(operation, 'test', body);
        if (body.nf_token === live) return portal.act(operation, 'live', body);
        return notAuthorized();
      };
      return gate.pass({ operation, base: 'portal', subject: portal.subjectOf(body), answer }, reply);
    });
  }
}
