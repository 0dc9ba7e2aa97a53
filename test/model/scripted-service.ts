/** A small screening service for the model's runs: it keeps transactions, has moods, and writes down what it was asked. */
import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { StatusOutcome } from '../../src/orders/apply-reading.ts';
import type { OrderEvent } from '../../src/orders/messages.ts';
import type { Policy } from '../../src/orders/policy.ts';
import type { PortalOutcome } from '../../src/orders/portal.ts';
import type { ScreeningOutcome } from '../../src/orders/screening-outcome.ts';
import type { Decision } from '../../src/orders/words.ts';
import type {
  BackgroundActivities,
  LocalActivities,
  LocalEventActivities,
  LocalPolicyActivities,
  LookUpOutcome,
  PollActivities,
  PortalRequest,
  RetryActivities,
  ScreenRequest,
} from '../../src/orders/world.ts';
import { HOUR, MINUTE } from '../fixtures/policies.ts';
import { again } from '../workflows/world.ts';
import type { Entry, Happening, StatusWord } from './log.ts';

/** Between tries while the service is down or the key wrong: long, so that days of it cost few tries. */
export const PAUSE_MS = 15 * MINUTE;

/** What the next create meets: a decision, `lost` (no answer, nothing made), `lost-<decision>` (made, no answer). */
export type NextCreate =
  | Decision
  | 'lost'
  | 'lost-pass'
  | 'lost-review'
  | 'lost-fail'
  | 'refused'
  | 'skipped';
export type Mood = 'ok' | 'down' | 'wrong-key';
export type PortalMood = 'ok' | 'refuse' | 'unconfirmed';

interface Made {
  tx: string;
  invoice: string;
  decision: Decision | 'unknown';
}

export class ScriptedService {
  readonly log: Entry[] = [];
  readonly events: OrderEvent[] = [];
  readonly made: Made[] = [];
  readonly portalRequests: { request: PortalRequest; at: number }[] = [];
  mood: Mood = 'ok';
  portalMood: PortalMood = 'ok';
  next: NextCreate = 'pass';
  readonly #now: () => Promise<number>;
  readonly policy: Policy;

  constructor(policy: Policy, now: () => Promise<number>) {
    this.policy = policy;
    this.#now = now;
  }

  now(): Promise<number> {
    return this.#now();
  }

  async note(happening: Happening): Promise<Entry> {
    const entry: Entry = { ...happening, at: await this.#now() };
    this.log.push(entry);
    return entry;
  }

  newest(): Made | undefined {
    return this.made.at(-1);
  }

  async screen(request: ScreenRequest, by: 'checkout' | 'retry' | 'catch-up'): Promise<ScreeningOutcome> {
    const lookFirst = request.lookFirst || (by !== 'checkout' && activityInfo().attempt > 1);
    const outcome = this.#answerCreate(request, lookFirst);
    const result =
      outcome.kind === 'answered'
        ? {
            is: outcome.kind,
            tx: outcome.transactionId,
            decision: outcome.decision,
            adopted: outcome.adopted,
          }
        : { is: outcome.kind === 'unreadable' ? 'refused' : outcome.kind };
    await this.note({ kind: 'screened', by, result, lookedFirst: lookFirst });
    return outcome;
  }

  #answerCreate(request: ScreenRequest, lookFirst: boolean): ScreeningOutcome {
    if (this.next === 'skipped') return { kind: 'skipped', rule: 0 };
    if (this.mood === 'wrong-key') return { kind: 'forbidden' };
    if (this.mood === 'down') return { kind: 'unanswered', reason: 'timeout', maybeSent: true };
    const found = lookFirst ? this.#first(request.invoiceNumber, request.knownTransactionIds) : undefined;
    if (found) return { kind: 'answered', transactionId: found.tx, decision: found.decision, adopted: true };
    const { next } = this;
    if (next === 'refused') return { kind: 'refused', reason: 'refused', words: 'Missing data' };
    if (next === 'lost') return { kind: 'unanswered', reason: 'timeout', maybeSent: true };
    const lost = next.startsWith('lost-');
    const made = { tx: randomUUID(), invoice: request.invoiceNumber, decision: decisionOf(next) };
    this.made.push(made);
    if (lost) return { kind: 'unanswered', reason: 'timeout', maybeSent: true };
    return { kind: 'answered', transactionId: made.tx, decision: made.decision, adopted: false };
  }

  /** By invoice only the first transaction is found (interface document, "Rules for lookups by invoice"). */
  #first(invoice: string, known: string[]): (Made & { decision: Decision }) | undefined {
    const first = this.made.find((one) => one.invoice === invoice);
    if (first === undefined || known.includes(first.tx) || first.decision === 'unknown') return undefined;
    return { ...first, decision: first.decision };
  }

  async lookUp(invoice: string, known: string[], forbiddenKnown: boolean): Promise<LookUpOutcome> {
    if (this.mood === 'down') throw again(PAUSE_MS);
    if (this.mood === 'wrong-key') {
      await this.note({ kind: 'looked-up', forbidden: true });
      if (forbiddenKnown) throw again(PAUSE_MS);
      return { kind: 'forbidden' };
    }
    const found = this.#first(invoice, known);
    await this.note({
      kind: 'looked-up',
      ...(found && { found: { tx: found.tx, decision: found.decision } }),
    });
    return found ? { kind: 'found', transactionId: found.tx, decision: found.decision } : { kind: 'none' };
  }

  async read(tx: string, by: 'read' | 'poll'): Promise<StatusOutcome> {
    const got = this.#status(tx);
    await this.note({ kind: 'read', tx, got, by });
    switch (got) {
      case 'unreadable':
        return { kind: 'unreadable', words: 'The service does not know the transaction.' };
      case 'unanswered':
      case 'forbidden':
        return { kind: got };
      default:
        return { kind: 'read', decision: got };
    }
  }

  #status(tx: string): StatusWord {
    if (this.mood === 'down') return 'unanswered';
    if (this.mood === 'wrong-key') return 'forbidden';
    const decision = this.made.find((one) => one.tx === tx)?.decision ?? 'unknown';
    return decision === 'unknown' ? 'unreadable' : decision;
  }

  async portal(request: PortalRequest): Promise<PortalOutcome> {
    const at = await this.#now();
    const kind = request.fields.kind;
    const note = (result: Extract<Entry, { kind: 'portal' }>['result']) =>
      this.note({
        kind: 'portal',
        action: kind,
        ...(request.transactionId && { tx: request.transactionId }),
        result,
        forced: request.fields.kind === 'chargeback' && request.fields.force === true,
        subject: JSON.stringify({ ...request.fields, force: undefined }),
      });
    const lastMoment =
      request.notAfter === undefined ? Number.POSITIVE_INFINITY : Date.parse(request.notAfter);
    if (at > lastMoment) {
      await note('too-late');
      return { kind: 'too-late' };
    }
    this.portalRequests.push({ request, at });
    if (this.mood === 'down') {
      await note('unanswered');
      throw again(Math.max(1, Math.min(PAUSE_MS, lastMoment - at + 1)));
    }
    if (this.mood === 'wrong-key') {
      await note('forbidden');
      if (request.forbiddenKnown) throw again(Math.max(1, Math.min(PAUSE_MS, lastMoment - at + 1)));
      return { kind: 'forbidden' };
    }
    if (this.portalMood === 'refuse') {
      await note('refused');
      return { kind: 'refused', code: '403', message: 'not possible' };
    }
    if (this.portalMood === 'unconfirmed' && kind === 'chargeback') {
      await note('unconfirmed');
      return { kind: 'unconfirmed' };
    }
    await note('done');
    return { kind: 'done', code: '200', message: 'done' };
  }
}

function decisionOf(next: Exclude<NextCreate, 'lost' | 'refused' | 'skipped'>): Decision {
  switch (next) {
    case 'lost-pass':
      return 'pass';
    case 'lost-review':
      return 'review';
    case 'lost-fail':
      return 'fail';
    default:
      return next;
  }
}

/** The activities of all three queues, each request answered by its integration's service. */
export function activitiesOf(
  serviceOf: (integration: string) => ScriptedService,
): LocalActivities &
  LocalPolicyActivities &
  LocalEventActivities &
  RetryActivities &
  BackgroundActivities &
  PollActivities {
  const take = async (events: OrderEvent[]) => {
    for (const event of events) {
      const { events: taken } = serviceOf(event.integration);
      if (!taken.some((one) => one.id === event.id)) taken.push(event);
    }
  };
  return {
    screenAtCheckout: async (request) => {
      const service = serviceOf(request.integration);
      return { policy: service.policy, outcome: await service.screen(request, 'checkout') };
    },
    policyInForce: async (request) => serviceOf(request.integration).policy,
    screenRetry: (request) => serviceOf(request.integration).screen(request, 'retry'),
    catchUp: async (request) => {
      const outcome = await serviceOf(request.integration).screen(request, 'catch-up');
      if (outcome.kind === 'forbidden' && request.forbiddenKnown) throw again(PAUSE_MS);
      if (outcome.kind === 'unanswered') throw again(PAUSE_MS);
      return outcome;
    },
    lookUp: (request) =>
      serviceOf(request.integration).lookUp(
        request.invoiceNumber,
        request.knownTransactionIds,
        request.forbiddenKnown,
      ),
    readStatus: (request) => serviceOf(request.integration).read(request.transactionId, 'read'),
    readStatusDurably: async (request) => {
      const status = await serviceOf(request.integration).read(request.transactionId, 'read');
      if (status.kind === 'unanswered') throw again(PAUSE_MS);
      if (status.kind === 'forbidden' && request.forbiddenKnown) throw again(PAUSE_MS);
      return status;
    },
    pollStatus: async (request) => {
      if (activityInfo().attempt === 1) throw again(request.pauses.firstMs);
      const status = await serviceOf(request.integration).read(request.transactionId, 'poll');
      // As the real one: the same decision is news when it ends a trouble that was reported.
      const troubled = request.troubleKnown || request.forbiddenKnown;
      const known =
        (status.kind === 'read' && status.decision === request.known && !troubled) ||
        (status.kind === 'read' && status.decision === 'error' && request.troubleKnown) ||
        (status.kind === 'forbidden' && request.forbiddenKnown) ||
        (status.kind === 'unreadable' && request.troubleKnown);
      const late = activityInfo().currentAttemptScheduledTimestampMs > Date.parse(request.cancelBy ?? '');
      if (known || status.kind === 'unanswered') throw again(late ? 6 * HOUR : request.pauses.maxMs);
      return status;
    },
    sendGatewayResponse: async (request) => {
      const service = serviceOf(request.integration);
      const { mood } = service;
      await service.note({
        kind: 'gateway-response',
        tx: request.transactionId,
        result: request.gateway.result,
        taken: mood === 'ok',
      });
      if (mood === 'wrong-key' && !request.forbiddenKnown) return { kind: 'forbidden' };
      if (mood !== 'ok') throw again(PAUSE_MS);
      return { kind: 'sent' };
    },
    performPortalAction: (request) => serviceOf(request.integration).portal(request),
    deliverEvents: take,
    deliverAtOnce: (event) => take([event]),
    forgetCard: async () => undefined,
  };
}
