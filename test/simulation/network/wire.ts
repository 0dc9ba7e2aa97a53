/** The way to the screening service and back: latency, HTTP faults, commits that come late, a wrong key, an outage. */
import type { RequestInit } from 'node-fetch';
import type { BookedRequest, Operation } from '../../books/books.ts';
import type { FaultKind, Happening } from '../plan/happenings.ts';
import { type Life, START } from '../plan/life.ts';
import { between, mixed } from '../random.ts';
import type { Agenda } from './agenda.ts';
import { broken, json, page, readRequest, response, responseOf } from './http.ts';
import type { Process } from './process.ts';
import { type Answer, ARRIVES_WITHIN_MS, Sending } from './sending.ts';
import type { Asked, Said, Service } from './service.ts';
import type { Server, Told } from './virtual-machine.ts';

export class Wire implements Server {
  readonly service: Service;
  readonly agenda: Agenda;
  readonly #happenings: readonly Happening[];
  readonly #seed: number;
  readonly #counts = new Map<Operation, number>();

  constructor(agenda: Agenda, service: Service, { happenings, seed }: Life) {
    this.agenda = agenda;
    this.service = service;
    this.#happenings = happenings;
    this.#seed = mixed(seed, 77);
  }

  /** Sends a request, which leaves when its process is no longer frozen. */
  send(url: string, request: RequestInit, process: Process, told: Told): Sending {
    const sending = new Sending(this, readRequest(url, request), process, told);
    if (process.now <= this.agenda.now) this.#leave(sending);
    else this.agenda.at(process.now, () => this.#leave(sending));
    return sending;
  }

  #leave(sending: Sending): void {
    const { asked } = sending;
    const { operation } = asked;
    const { now } = this.agenda;
    if (sending.over || sending.process.isDead) return;
    const nth = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, nth);
    const seed = this.#seed + operation.length * 7;
    const there = between(2, 60, seed, nth) * (this.agenda.isIn('slow') ? 60 : 1);
    const back = between(0, 20, seed, -nth);
    sending.entry = this.service.enter(asked, now);
    if (this.agenda.isIn('outage')) {
      sending.answerAt(now + back, () => ['not-done', broken('ECONNREFUSED')]);
      return;
    }
    const planned = this.#happenings.find(
      (one) => one.do === 'fault' && one.nth === nth && one.operation === operation,
    );
    const { fault, ms } =
      planned?.do === 'fault' ? planned : { fault: this.brokenBy(operation)?.fault, ms: 0 };
    this.#travel(sending, fault, now + there + (fault === 'delay' ? ms : 0), back, ms);
    if (!sending.process.heard) sending.abandon();
  }

  #travel(sending: Sending, fault: FaultKind | undefined, arrival: number, back: number, ms: number): void {
    const soon = 1 + (ms % ARRIVES_WITHIN_MS);
    const instead = fault && INSTEAD[fault]?.(ms);
    if (instead !== undefined) {
      if (fault === '5xx-late') sending.commitAt(arrival + back + soon);
      const travelsBack = instead[0] === 'unknown' && fault !== 'page-404';
      sending.answerAt(arrival + (travelsBack ? back : 0), () => instead);
    } else if (fault === 'late') sending.lateMs = soon;
    else if (fault !== 'hang-before') {
      sending.commitAt(arrival);
      if (fault === 'hang-after') return;
      const answered = arrival + back + (fault === 'slow-answer' ? ms : 0);
      sending.answerAt(answered, () => answerOf(sending, fault));
    }
  }

  /** @returns how every request of the operation fails now, and until when, if it does */
  brokenBy(operation: Operation): { fault: FaultKind; until: number } | undefined {
    const since = this.agenda.now - START;
    for (const one of this.#happenings) {
      if (one.do !== 'broken' || one.operation !== operation) continue;
      const end = one.at + (one.ms ?? Number.POSITIVE_INFINITY);
      if (since >= one.at && since < end) return { fault: one.fault, until: START + end };
    }
    return undefined;
  }

  /** What the screening service does with a request that has arrived; undefined: it doesn't know the key. */
  arrive(asked: Asked, entry: BookedRequest): Said | undefined {
    return this.agenda.isIn('wrong-key') ? undefined : this.service.commit(asked, entry, this.agenda.now);
  }
}

const FORBIDDEN = (): Answer => ['forbidden', json(403, { Errors: ['Not Authorized'] })];

/** What is heard in place of what the screening service says. */
const INSTEAD: Partial<Record<FaultKind, (ms: number) => Answer>> = {
  '5xx-late': () => ['unknown', page(502)],
  '5xx-before': () => ['unknown', page(503)],
  'reset-before': () => ['unknown', broken('ECONNRESET')],
  '429': (ms) => ['not-done', response(429, '', String(retryAfter(ms)))],
  '403': FORBIDDEN,
  'page-404': () => ['unknown', page(404)],
  'refused-in-body': () => ['refused', json(200, { code: 403, message: 'Refused' })],
};

/** @returns how many seconds the screening service asks to wait: up to an hour in one case of eight */
function retryAfter(ms: number): number {
  return Math.round(ms % 8 === 7 ? (ms % 5_000) * 0.72 : (ms % 5_000) / 1_000);
}

/** What becomes of the answer on its way. */
const SPOILED: Partial<Record<FaultKind, () => Answer>> = {
  '5xx-after': () => ['unknown', page(500)],
  'reset-after': () => ['unknown', broken('ECONNRESET')],
  truncated: () => ['unknown', response(200, broken('ERR_STREAM_PREMATURE_CLOSE'))],
  malformed: () => ['unknown', response(200, '{"id": "tx-')],
};

function answerOf({ said, asked }: Sending, fault: FaultKind | undefined): Answer {
  if (said === undefined) return FORBIDDEN();
  const spoiled = fault && SPOILED[fault]?.();
  if (spoiled !== undefined) return spoiled;
  if (said.is === 'transaction') {
    const { id, decision } = said;
    if (fault === 'unknown-decision') return ['unreadable', json(200, { id, decision: 'perhaps' })];
    if (fault === 'without-id') return ['unreadable', json(200, { decision })];
  }
  return [said.is, responseOf(said, asked)];
}
