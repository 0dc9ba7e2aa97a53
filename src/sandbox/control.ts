/** The control plane of the sandbox: decisions, faults, clock, ledger. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { ZodError, z } from 'zod';
import { type FaultPlan, type FaultPlanInput, faultPlanSchema } from './fault-plan.ts';
import type { Keys } from './gate.ts';
import {
  DECISIONS,
  type Decision,
  LEDGER_OPERATIONS,
  portalSettingsSchema,
  screeningSettingsSchema,
  type TransactionRecord,
} from './model.ts';
import type { Ledger, LedgerFilter, SandboxState } from './state.ts';
import { type WebhookSender, webhookConfigSchema } from './webhook-sender.ts';

const decisionInput = z.strictObject({ decision: z.enum(DECISIONS) });
const coverageInput = z.strictObject({ covered: z.boolean() });
/** About 1,000 years. A date far beyond has no ISO form, so every later request would fail. */
const MOST_MS = 3e13;
const milliseconds = z.number().int().min(-MOST_MS).max(MOST_MS);
const clockInput = z.union([
  z.strictObject({ advanceMs: milliseconds }),
  z.strictObject({ now: z.union([milliseconds, z.iso.datetime({ offset: true })]) }),
]);
const keysInput = z.strictObject({
  test: z.string().min(1).optional(),
  live: z.string().min(1).optional(),
});
const webhooksInput = webhookConfigSchema.partial();
const portalInput = portalSettingsSchema.partial().strict();
const screeningInput = screeningSettingsSchema.partial().strict();
const ledgerInput = z.strictObject({
  operation: z.enum(LEDGER_OPERATIONS).optional(),
  invoice: z.string().optional(),
  since: z.coerce.number().int().nonnegative().optional(),
});

interface ControlParts {
  readonly state: SandboxState;
  readonly ledger: Ledger;
  readonly faults: FaultPlan;
  readonly webhooks: WebhookSender;
  readonly keys: Keys;
  readonly onChange: () => void;
}

/** The control plane for callers in the same process. The HTTP routes under `/_sandbox/` offer the same operations. */
export type SandboxControl = ReturnType<typeof createControl>;

/** Creates the control plane. Changes `keys` in place. */
export function createControl({ state, ledger, faults, webhooks, keys, onChange }: ControlParts) {
  const initialKeys = { ...keys };
  const initialWebhooks = webhooks.config;

  /** The sandbox's clock: `now` in ISO 8601, and its offset from the wall clock in milliseconds (positive: ahead). */
  const clock = () => ({ now: state.nowIso(), offsetMs: state.clockOffsetMs });
  const copies = (transactions: TransactionRecord[]) => structuredClone(transactions);

  return {
    /**
     * Sets an analyst's decision, and sends a webhook if it is a change. Applies to all matching transactions in `review`, or to the
     * newest match if none is in review. Returns these transactions; empty if none matches.
     */
    decide(idOrInvoice: string, decision: Decision) {
      const found = state.all(idOrInvoice);
      const inReview = found.filter((transaction) => transaction.decision === 'review');
      const decided = inReview.length > 0 ? inReview : found.slice(-1);
      for (const transaction of decided) {
        if (!state.decide(transaction, decision)) continue;
        const { id: transactionId, invoiceNumber } = transaction;
        const entry = ledger.open('decision-change', 'service', { transactionId, invoiceNumber });
        entry.committed = true;
        entry.outcome.decision = decision;
        webhooks.announce(transaction);
      }
      onChange();
      return copies(decided);
    },
    /** Sets whether these transactions are covered by chargeback protection. */
    cover(idOrInvoice: string, covered: boolean) {
      const found = state.all(idOrInvoice);
      for (const transaction of found) transaction.covered = covered;
      onChange();
      return copies(found);
    },
    /** Returns all transactions, or those with this id or invoice number, oldest first. */
    transactions: (idOrInvoice?: string) => copies(state.all(idOrInvoice)),
    customerCodes: () => structuredClone(state.customerCodes),
    ledger: (filter?: LedgerFilter) => ledger.read(filter),
    clock,
    setClock(to: z.input<typeof clockInput>) {
      state.clockOffsetMs =
        'now' in to ? new Date(to.now).getTime() - Date.now() : state.clockOffsetMs + to.advanceMs;
      onChange();
      return clock();
    },
    /** Replaces the plan. @throws ZodError for an invalid plan */
    setFaults(plan: FaultPlanInput) {
      faults.set(plan);
      return faults.report();
    },
    faults: () => faults.report(),
    /** Removes all faults. The counts of injected faults stay until `reset`. */
    clearFaults() {
      faults.clear();
      return faults.report();
    },
    setKeys(changed: z.input<typeof keysInput>) {
      Object.assign(keys, changed);
    },
    setWebhooks(changed: z.input<typeof webhooksInput>) {
      webhooks.config = Object.assign({}, webhooks.config, changed);
    },
    portal: () => ({ ...state.portal }),
    setPortal(changed: z.input<typeof portalInput>) {
      state.portal = Object.assign({}, state.portal, changed);
      onChange();
      return { ...state.portal };
    },
    setScreening(changed: z.input<typeof screeningInput>) {
      state.screening = Object.assign({}, state.screening, changed);
      onChange();
      return { ...state.screening };
    },
    /** Empties the sandbox and restores its initial configuration. */
    reset() {
      state.clear();
      ledger.clear();
      faults.reset();
      Object.assign(keys, initialKeys);
      webhooks.config = initialWebhooks;
      onChange();
    },
  };
}

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
    await reply
      .code(403)
      .send(errorBody('the control plane is available only on this machine, at localhost or 127.0.0.1'));
  });

  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ZodError) {
      const errors = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      return reply.code(400).send({ errors });
    }
    return reply.code(error.statusCode ?? 500).send(errorBody(error.message));
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

  app.put('/screening', ({ body }) => control.setScreening(screeningInput.parse(body)));

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
  return reply.code(404).send(errorBody('no transaction with this id or invoice number'));
}

function errorBody(message: string) {
  return { errors: [{ path: '', message }] };
}
