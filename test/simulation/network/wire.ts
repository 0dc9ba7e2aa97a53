/** The way to the screening service and back: latency, HTTP faults, commits that come late, a wrong key, an outage. */
import type { RequestInit } from 'node-fetch';
import type { Operation, Span } from '../../books/books.ts';
import type { FaultKind, Happening } from '../plan/happenings.ts';
import { type Life, START } from '../plan/life.ts';
import { between, mixed } from '../random.ts';
import type { Agenda } from './agenda.ts';
import { broken, json, page, Response, readRequest, responseOf } from './http.ts';
import type { Process } from './process.ts';
import { type Answer, ARRIVES_WITHIN_MS, Sending } from './sending.ts';
import { type Asked, type Entry, operationOf, type Said, type Service } from './service.ts';
import type { Server, Told } from './virtual-machine.ts';

type Fault = Extract<Happening, { do: 'fault' }>;

export class Wire implements Server {
  readonly service: Service;
  readonly #agenda: Agenda;
  readonly #life: Life;
  readonly #seed: number;
  readonly #faults: readonly Fault[];
  readonly #broken: readonly Extract<Happening, { do: 'broken' }>[];
  readonly #counts = new Map<Operation, number>();
  readonly outages: Span[] = [];
  readonly wrongKeys: Span[] = [];
  readonly slow: Span[] = [];

  constructor(agenda: Agenda, service: Service, life: Life) {
    this.#agenda = agenda;
    this.service = service;
    this.#life = life;
    this.#seed = mixed(life.seed, 77);
    this.#faults = life.happenings.filter((one) => one.do === 'fault');
    this.#broken = life.happenings.filter((one) => one.do === 'broken');
  }

  /** Sends a request, which leaves when its process is no longer frozen. */
  send(url: string, request: RequestInit, process: Process, told: Told): Sending {
    const asked = readRequest(url, request, this.#life.wishes);
    const sending = new Sending(this.#agenda, this, asked, process, told);
    if (process.now <= this.#agenda.now) this.#leave(sending);
    else this.#agenda.at(process.now, () => this.#leave(sending));
    return sending;
  }

  #leave(sending: Sending): void {
    const { asked } = sending;
    const { now } = this.#agenda;
    if (sending.over || sending.process.isDead) return;
    const operation = operationOf(asked);
    const nth = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, nth);
    const seed = this.#seed + operation.length * 7;
    const slow = within(this.slow, now) ? 60 : 1;
    const there = between(2, 60, seed, nth) * slow;
    const back = between(0, 20, seed, -nth);
    const planned = this.#faults.find((one) => one.nth === nth && one.operation === operation);
    const fault = planned?.fault ?? this.brokenBy(operation);
    const ms = planned?.ms ?? 0;
    if (within(this.outages, now)) {
      const entry = this.service.enter(asked, now, 'outage');
      entry.status = 503;
      sending.entry = entry;
      sending.answerAt(now + back, () => ['not-done', broken('ECONNREFUSED')]);
      return;
    }
    sending.entry = this.service.enter(asked, now, fault ?? null);
    this.#travel(sending, fault, now + there + (fault === 'delay' ? ms : 0), back, ms);
    if (!sending.process.heard) sending.abandon();
  }

  #travel(sending: Sending, fault: FaultKind | undefined, arrival: number, back: number, ms: number): void {
    const soon = 1 + (ms % ARRIVES_WITHIN_MS);
    switch (fault) {
      case 'hang-before':
        return;
      case 'late':
        sending.lateMs = soon;
        return;
      case '5xx-late':
        sending.commitAt(arrival + back + soon);
        sending.answerAt(arrival + back, () => ['unknown', page(502)]);
        return;
      case '5xx-before':
        sending.answerAt(arrival + back, () => ['unknown', page(503)]);
        return;
      case 'reset-before':
        sending.answerAt(arrival + back, () => ['unknown', broken('ECONNRESET')]);
        return;
      case '429': {
        const seconds = String(Math.round((ms % 5_000) / 1_000));
        sending.answerAt(arrival, () => ['not-done', new Response(429, '', seconds)]);
        return;
      }
      case '403':
        sending.answerAt(arrival, () => {
          sending.refuse(403);
          return FORBIDDEN();
        });
        return;
      case 'page-404':
        sending.answerAt(arrival, () => ['unknown', page(404)]);
        return;
      case 'refused-in-body':
        sending.answerAt(arrival, () => {
          sending.refuse(200, '403');
          return ['refused', json(200, { code: 403, message: 'Refused' })];
        });
        return;
      case 'hang-after':
        sending.commitAt(arrival);
        return;
    }
    sending.commitAt(arrival);
    const answered = arrival + back + (fault === 'slow-answer' ? ms : 0);
    sending.answerAt(answered, () => answerOf(sending, fault));
  }

  /** @returns how every request of the operation fails now, if it does */
  brokenBy(operation: Operation): FaultKind | undefined {
    return this.#brokenNow(operation)?.fault;
  }

  /** @returns until when every request of the operation fails; 0 if none does */
  brokenUntil(operation: Operation): number {
    const now = this.#brokenNow(operation);
    return now === undefined ? 0 : START + now.at + (now.ms ?? Number.POSITIVE_INFINITY);
  }

  #brokenNow(operation: Operation): Extract<Happening, { do: 'broken' }> | undefined {
    const since = this.#agenda.now - START;
    return this.#broken.find(
      ({ operation: broken, at, ms = Number.POSITIVE_INFINITY }) =>
        broken === operation && since >= at && since < at + ms,
    );
  }

  /** What the screening service does with a request that has arrived; undefined: it doesn't know the key. */
  arrive(asked: Asked, entry: Entry): Said | undefined {
    if (!within(this.wrongKeys, this.#agenda.now)) return this.service.commit(asked, entry, this.#agenda.now);
    entry.status = 403;
    entry.fault ??= 'wrong-key';
    return undefined;
  }
}

const FORBIDDEN = (): Answer => ['forbidden', json(403, { Errors: ['Not Authorized'] })];

function answerOf({ said, asked }: Sending, fault: FaultKind | undefined): Answer {
  if (said === undefined) return FORBIDDEN();
  switch (fault) {
    case '5xx-after':
      return ['unknown', page(500)];
    case 'reset-after':
      return ['unknown', broken('ECONNRESET')];
    case 'truncated':
      return ['unknown', new Response(200, broken('ERR_STREAM_PREMATURE_CLOSE'))];
    case 'malformed':
      return ['unknown', new Response(200, '{"id": "tx-')];
    case 'unknown-decision':
      if (said.is === 'transaction') return ['unreadable', json(200, { id: said.id, decision: 'perhaps' })];
      break;
    case 'without-id':
      if (said.is === 'transaction') return ['unreadable', json(200, { decision: said.decision })];
      break;
  }
  return [said.is, responseOf(said, asked)];
}

export function within(spans: readonly Span[], at: number): boolean {
  for (const span of spans) if (at >= span.from && at < span.until) return true;
  return false;
}
