/** The world of workflow tests: a service that answers what the test says, and a record of what it was asked. */
import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type {
  BackgroundActivities,
  CheckoutActivities,
  LastReadRequest,
  Moment,
  PollActivities,
  PortalOutcome,
  PortalRequest,
  ReadActivities,
  RunFacts,
  ScreeningOutcome,
  ScreenRequest,
  StatusOutcome,
  Timed,
} from '../../src/contract/activity-contract.ts';
import type { OrderEvent, OrderEventType } from '../../src/contract/messages.ts';
import { type Decision, type Instant, instant, millis } from '../../src/contract/words.ts';
import { aPolicy, HOUR, MINUTE } from '../fixtures/policies.ts';

/** An answer of the service to a create. */
export function answered(
  decision: Decision,
  more: Partial<ScreeningOutcome & { kind: 'answered' }> = {},
): ScreeningOutcome {
  const sent = instant(Date.now());
  return {
    kind: 'answered',
    transactionId: randomUUID(),
    decision,
    found: false,
    sentFrom: sent,
    sentUntil: sent,
    ...more,
  };
}

/** A world whose service says this at checkout and at every reading after it. */
export function decided(decision: 'pass' | 'fail' | 'review', policy = aPolicy()): (world: World) => void {
  return (world) => {
    world.policy = policy;
    world.screenings = [answered(decision)];
    world.status = { kind: 'read', decision };
  };
}

/** The world as one test wants it. What isn't set answers as a healthy service does. */
export class World {
  policy = aPolicy();
  /** Outcomes of screenings, in order; the last one stays. */
  screenings: ScreeningOutcome[] = [answered('pass')];
  /** What the status operations say now. */
  status: StatusOutcome | { kind: 'unanswered' } = { kind: 'read', decision: 'pass' };
  /** When the transaction was reported as fraud after the order's end. */
  reportedAfterEnd: { id: string; at: Instant } | undefined;
  portal: (request: PortalRequest, run: RunFacts) => Promise<PortalOutcome> = async () => ({
    kind: 'done',
    code: '200',
    message: 'done',
  });
  deliver: (event: OrderEvent) => void | Promise<void> = () => undefined;
  forget: () => Promise<void> = async () => undefined;
  screenAtCheckout: (request: ScreenRequest) => Promise<ScreeningOutcome> = async () => this.nextScreening();

  readonly screened: ScreenRequest[] = [];
  readonly portalCalls: PortalRequest[] = [];
  /** What the portal actions were told of their runs. */
  readonly portalRuns: RunFacts[] = [];
  readonly gatewayCalls: { transactionId: string; result: string }[] = [];
  readonly events: OrderEvent[] = [];
  readonly forgotten: string[] = [];
  polls = 0;
  reads = 0;

  nextScreening(): ScreeningOutcome {
    const [next, ...others] = this.screenings;
    if (next === undefined) throw new Error('the test names no screening');
    if (others.length > 0) this.screenings = others;
    return next;
  }

  eventTypes(): OrderEventType[] {
    return this.events.map((event) => event.type);
  }
}

/** Every request names its integration, and each order here has one of its own. */
export class Worlds {
  readonly #worlds = new Map<string, World>();

  add(integration: string, world: World): void {
    this.#worlds.set(integration, world);
  }

  of({ integration }: { integration: string }): World {
    const world = this.#worlds.get(integration);
    if (world === undefined) throw new Error('no such integration in this test');
    return world;
  }
}

export function checkoutActivities(worlds: Worlds): CheckoutActivities {
  return {
    screenAtCheckout: async (request) => {
      const world = worlds.of(request);
      world.screened.push(request);
      const moment = since(request.begun);
      const outcome = sentAt(moment().at, await world.screenAtCheckout(request));
      return { policy: world.policy, outcome, ...moment() };
    },
    screenRetry: timed(async (request) => {
      const world = worlds.of(request);
      world.screened.push(request);
      return sentAt(triedAt(), world.nextScreening());
    }),
  };
}

export function backgroundActivities(worlds: Worlds): BackgroundActivities {
  return {
    catchUp: async (request) => {
      const world = worlds.of(request);
      const { policy } = world;
      const ended = since(triedAt());
      if (request.policyMissing) {
        const unseenSince = request.startedAt;
        const outcome = { kind: 'unanswered' as const, reason: 'screening-broke-down', unseenSince };
        return { outcome, policy, ...ended() };
      }
      world.screened.push(request);
      return { outcome: sentAt(triedAt(), world.nextScreening()), ...ended() };
    },
    lookUp: async ({ unseenSince }) => ({
      outcome: { kind: 'none' },
      sentFrom: unseenSince,
      ...since(triedAt())(),
    }),
    sendGatewayResponse: timed(async (request) => {
      const { transactionId, gateway } = request;
      worlds.of(request).gatewayCalls.push({ transactionId, result: gateway.result });
      return { kind: 'sent' };
    }),
    performPortalAction: timed(async (request, run) => {
      const world = worlds.of(request);
      world.portalRuns.push(run);
      world.portalCalls.push(request);
      return world.portal(request, run);
    }),
    deliverEvents: async (events) => {
      const ended = since(triedAt());
      for (const event of events) {
        const world = worlds.of(event);
        // A batch that is sent again continues after what arrived, as with the real activity.
        if (world.events.some((one) => one.id === event.id)) continue;
        await world.deliver(event);
        world.events.push(event);
      }
      return ended();
    },
    forgetCard: async ({ cardRef }) => {
      const ended = since(triedAt());
      const world = worlds.of({ integration: cardRef });
      await world.forget();
      world.forgotten.push(cardRef);
      return ended();
    },
  };
}

export function readActivities(worlds: Worlds): ReadActivities {
  return {
    readStatus: timed(async (request, { forbiddenKnown }) => {
      const world = worlds.of(request);
      const { status } = world;
      if (request.transactionId === undefined) return undefined;
      const pauseMs = millis(request.notBefore ?? triedAt()) - millis(triedAt());
      if (pauseMs > 0) throw again(pauseMs);
      if (status.kind === 'unanswered') throw again(MINUTE);
      if (status.kind === 'forbidden' && forbiddenKnown) throw again(MINUTE);
      world.reads += 1;
      const { id, at } = world.reportedAfterEnd ?? {};
      if (at === undefined || !request.reportsOf?.includes(id ?? '') || status.kind !== 'read') return status;
      return { ...status, reportedAt: [at] };
    }),
  };
}

export function pollActivities(worlds: Worlds): PollActivities {
  return {
    pollStatus: timed(async (request, run) => {
      const world = worlds.of(request);
      const { status } = world;
      if (activityInfo().attempt === 1) throw again(request.pauses.firstMs);
      world.polls += 1;
      const late = activityInfo().currentAttemptScheduledTimestampMs > Date.parse(request.cancelBy);
      if (isKnown(request, run, status) || status.kind === 'unanswered')
        throw again(late ? 6 * HOUR : request.pauses.maxMs);
      return status;
    }),
    readStatusLast: timed(async (request, run) => {
      const world = worlds.of(request);
      const { status } = world;
      world.reads += 1;
      if (status.kind === 'unanswered') throw again(MINUTE);
      if (isKnown(request, run, status)) throw again(millis(request.cancelBy) - millis(triedAt()) + HOUR);
      return status;
    }),
  };
}

function isKnown(
  { known, troubleKnown }: LastReadRequest,
  { forbiddenKnown = false }: RunFacts,
  status: World['status'],
): boolean {
  return (
    (status.kind === 'read' && status.decision === known) ||
    (status.kind === 'forbidden' && forbiddenKnown) ||
    (status.kind === 'unreadable' && troubleKnown)
  );
}

function timed<Request, Outcome>(
  activity: (request: Request, run: RunFacts) => Promise<Outcome>,
): (request: Request, run: RunFacts) => Promise<Timed<Outcome>> {
  return async (request, run) => {
    const moment = since(triedAt());
    return { outcome: await activity(request, run), ...moment() };
  };
}

/** Moves the outcome's create to the time of the request: the test made the outcome earlier, and the server's clock skips time. */
function sentAt(at: Instant, outcome: ScreeningOutcome): ScreeningOutcome {
  return outcome.kind === 'answered' ? { ...outcome, sentFrom: at, sentUntil: at } : outcome;
}

/** When the server scheduled this try: its clock skips time. */
function triedAt(): Instant {
  return instant(activityInfo().currentAttemptScheduledTimestampMs);
}

/** @returns what tells how long it took since then */
function since(began: Instant): () => Moment {
  const from = performance.now();
  return () => ({ began, at: instant(millis(began) + performance.now() - from) });
}

/** Not yet: the server calls the activity again after the delay. */
export function again(nextRetryDelay: number): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type: 'again', message: 'not yet', nextRetryDelay, category });
}
