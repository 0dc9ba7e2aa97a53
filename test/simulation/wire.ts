/** The way to the service and back: latency, faults, commits that come late, a wrong key, an outage. */
import type { Agenda } from './agenda.ts';
import type { FaultKind, Happening, Operation } from './happenings.ts';
import { type Life, START } from './life.ts';
import { between, mixed } from './random.ts';
import { type Asked, type Entry, type HeardWord, operationOf, type Said, type Service } from './service.ts';
import type { Sent, Watch } from './watch.ts';

/** Why a call brought no answer: as the screening client tells it. */
export interface Failed {
  is: 'failed';
  reason: string;
  /** `unknown`: it may have been done. `not-done`: it was not. `refused`: in the service's own words. */
  outcome: 'unknown' | 'not-done' | 'refused';
  retryAfterMs?: number;
  transactionId?: string;
}

export type Heard = Said | Failed;

/** Milliseconds after which a create whose connection was lost is certainly there, or never will be. */
const ARRIVES_WITHIN_MS = 9_900;

type Fault = Extract<Happening, { do: 'fault' }>;
interface Span {
  from: number;
  until: number;
}

export class Wire {
  readonly service: Service;
  readonly #agenda: Agenda;
  readonly #seed: number;
  readonly #watch: Watch;
  readonly #lastCallMs: number;
  readonly #faults: readonly Fault[];
  readonly #broken: readonly Extract<Happening, { do: 'broken' }>[];
  readonly #counts = new Map<Operation, number>();
  readonly outages: Span[] = [];
  readonly wrongKeys: Span[] = [];
  readonly slow: Span[] = [];

  /** @param lastCallMs after its create a transaction can be canceled for so long */
  constructor(
    agenda: Agenda,
    service: Service,
    watch: Watch,
    life: Pick<Life, 'seed' | 'happenings'>,
    lastCallMs: number,
  ) {
    this.#agenda = agenda;
    this.service = service;
    this.#watch = watch;
    this.#lastCallMs = lastCallMs;
    this.#seed = mixed(life.seed, 77);
    this.#faults = life.happenings.filter((one) => one.do === 'fault');
    this.#broken = life.happenings.filter((one) => one.do === 'broken');
  }

  /**
   * Sends a request.
   * @param timeoutMs how long its caller waits
   */
  send(asked: Asked, timeoutMs: number, tell: (heard: Heard) => void): Sending | undefined {
    const agenda = this.#agenda;
    const { now } = agenda;
    const operation = operationOf(asked);
    const nth = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, nth);
    const seed = this.#seed + operation.length * 7;
    const slow = within(this.slow, now) ? 60 : 1;
    const there = between(2, 60, seed, nth) * slow;
    const back = between(0, 20, seed, -nth);
    const planned = this.#faults.find((one) => one.nth === nth && one.operation === operation);
    const broken = this.#broken.some((one) => one.operation === operation && now >= START + one.at);
    const fault = planned?.fault ?? (broken ? '5xx-before' : undefined);
    const ms = planned?.ms ?? 0;
    if (within(this.outages, now)) {
      const entry = this.service.enter(asked, now, 'outage');
      entry.status = 503;
      entry.endedAt = now + back;
      entry.heard = 'not-done';
      agenda.at(now + back, () => tell(failed('unreachable', 'not-done')));
      return undefined;
    }
    const entry = this.service.enter(asked, now, fault ?? null);
    const sending = new Sending(agenda, this, asked, entry);
    if (asked.operation === 'create-transaction') sending.watched = this.#watch.creates(asked);
    if (asked.operation === 'portal' && asked.fields.kind === 'cancel') this.#watchCancel(asked);
    const hear = (heard: Heard): void => {
      if (!sending.abandoned) {
        entry.endedAt = agenda.now;
        entry.heard = heardWord(heard);
      }
      this.#note(asked, sending, heard, now);
      tell(heard);
    };
    const giveUpAt = now + timeoutMs;
    const commitAt = Math.min(now + there + (fault === 'delay' ? ms : 0), giveUpAt + ARRIVES_WITHIN_MS);
    const answer = (at: number, heard: () => Heard): void => {
      if (at >= giveUpAt) {
        if (fault === undefined || fault === 'delay') entry.fault = 'timed-out';
        agenda.at(giveUpAt, () => hear(failed('timeout', 'unknown')));
      } else agenda.at(at, () => hear(heard()));
    };
    switch (fault) {
      case 'hang-before':
        answer(giveUpAt, () => failed('timeout', 'unknown'));
        return sending;
      case 'late':
        sending.commitAt(giveUpAt + 1 + (ms % ARRIVES_WITHIN_MS));
        answer(giveUpAt, () => failed('timeout', 'unknown'));
        return sending;
      case '5xx-late': {
        const at = now + there + back;
        sending.commitAt(at + 1 + (ms % ARRIVES_WITHIN_MS));
        answer(at, () => failed('server-error', 'unknown'));
        return sending;
      }
      case '5xx-before':
      case 'reset-before':
        answer(commitAt + back, () => failed(fault === '5xx-before' ? 'server-error' : 'reset', 'unknown'));
        return sending;
      case '429':
        answer(commitAt, () => ({ ...failed('rate-limited', 'not-done'), retryAfterMs: ms % 5_000 }));
        return sending;
      case '403':
        answer(commitAt, () => this.#forbid(entry));
        return sending;
      case 'page-404':
        answer(commitAt, () => failed('not-the-service', 'unknown'));
        return sending;
      case 'refused-in-body':
        entry.status = 200;
        entry.code = '403';
        answer(commitAt, () => ({ is: 'refused', code: '403', words: 'Refused' }));
        return sending;
    }
    sending.commitAt(commitAt);
    if (fault === 'hang-after') answer(giveUpAt, () => failed('timeout', 'unknown'));
    else answer(commitAt + back, () => this.#heard(sending, fault));
    return sending;
  }

  #watchCancel({ transactionId }: Extract<Asked, { operation: 'portal' }>): void {
    const transaction = this.service.find(transactionId ?? '');
    // An attempt has one window, which counts from its last create.
    const last = this.service.transactions.findLast((one) => one.attempt === transaction?.attempt);
    if (last !== undefined) this.#watch.cancels(this.#agenda.now, last.createdAt + this.#lastCallMs);
  }

  #note(asked: Asked, { watched, abandoned }: Sending, heard: Heard, sentAt: number): void {
    if (watched !== undefined && !abandoned) {
      watched.endedAt = this.#agenda.now;
      watched.heard = heard;
    }
    if (asked.operation !== 'status-by-invoice') return;
    if (heard.is === 'transaction') this.#watch.looked(asked.invoice, sentAt, heard.id);
    if (heard.is === 'not-found') this.#watch.looked(asked.invoice, sentAt, undefined);
  }

  #heard({ said }: Sending, fault: FaultKind | undefined): Heard {
    if (said === undefined) return failed('forbidden', 'refused');
    switch (fault) {
      case '5xx-after':
        return failed('server-error', 'unknown');
      case 'reset-after':
        return failed('reset', 'unknown');
      case 'truncated':
      case 'malformed':
        return failed('malformed', 'unknown');
      case 'unknown-decision':
        return said.is === 'transaction'
          ? { ...failed('unknown-decision', 'unknown'), transactionId: said.id }
          : said;
      case 'without-id':
        return said.is === 'transaction' ? failed('missing-id', 'unknown') : said;
      default:
        return said;
    }
  }

  #forbid(entry: Entry): Failed {
    entry.status = 403;
    return failed('forbidden', 'refused');
  }

  /** What the service does with a request that has arrived; undefined: it doesn't know the key. */
  arrive(asked: Asked, entry: Entry): Said | undefined {
    if (!within(this.wrongKeys, this.#agenda.now)) return this.service.commit(asked, entry, this.#agenda.now);
    entry.status = 403;
    entry.fault ??= 'wrong-key';
    return undefined;
  }
}

/** A request on its way. */
export class Sending {
  said: Said | undefined;
  watched: Sent | undefined;
  abandoned = false;
  readonly #agenda: Agenda;
  readonly #wire: Wire;
  readonly #asked: Asked;
  readonly #entry: Entry;
  #latest = Number.POSITIVE_INFINITY;
  #due = 0;

  constructor(agenda: Agenda, wire: Wire, asked: Asked, entry: Entry) {
    this.#agenda = agenda;
    this.#wire = wire;
    this.#asked = asked;
    this.#entry = entry;
  }

  commitAt(at: number): void {
    this.#due = at;
    this.#agenda.at(at, () => {
      if (this.#due <= this.#latest) this.said = this.#wire.arrive(this.#asked, this.#entry);
    });
  }

  /** Its sender is gone: what hasn't arrived soon never does. Nobody hears the answer. */
  abandon(): void {
    this.#latest = Math.min(this.#latest, this.#agenda.now + ARRIVES_WITHIN_MS);
    this.#entry.fault ??= 'unheard';
    this.abandoned = true;
    if (this.#entry.endedAt === undefined) this.#entry.endedAt = this.#agenda.now;
    if (this.watched !== undefined) this.watched.endedAt ??= this.#agenda.now;
  }
}

function heardWord(heard: Heard): HeardWord {
  if (heard.is !== 'failed') return heard.is;
  if (heard.reason === 'forbidden') return 'forbidden';
  if (heard.reason === 'unknown-decision' || heard.reason === 'missing-id') return 'unreadable';
  return heard.outcome;
}

export function within(spans: readonly Span[], at: number): boolean {
  for (const span of spans) if (at >= span.from && at < span.until) return true;
  return false;
}

function failed(reason: string, outcome: Failed['outcome']): Failed {
  return { is: 'failed', reason, outcome };
}
