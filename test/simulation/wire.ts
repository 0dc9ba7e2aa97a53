/** The way to the screening service and back: latency, HTTP faults, commits that come late, a wrong key, an outage. */
import type { RequestInit } from 'node-fetch';
import type { BookedRequest, Operation } from '../books/books.ts';
import type { FaultKind } from './happenings.ts';
import { broken, json, page, Response, readRequest, responseOf } from './http.ts';
import { START } from './life.ts';
import type { Process } from './process.ts';
import { mixed } from './random.ts';
import { type Answer, ARRIVES_WITHIN_MS, Sending } from './sending.ts';
import type { Said } from './service.ts';
import type { Server, Told } from './virtual-machine.ts';
import type { World } from './world.ts';

const FORBIDDEN: Answer = ['forbidden', json(403, { Errors: ['Not Authorized'] })];

/** The answers to requests that don't reach the service; it does a `5xx-late` some seconds later. */
const INSTEAD: Partial<Record<FaultKind, Answer>> = {
  '5xx-late': ['unknown', page(502)],
  '5xx-before': ['unknown', page(503)],
  'reset-before': ['unknown', broken('ECONNRESET')],
  'page-404': ['unknown', page(404)],
  '403': FORBIDDEN,
  'refused-in-body': ['refused', json(200, { code: 403, message: 'Refused' })],
};

/** What becomes of the service's answer on its way back. */
const AFTERWARDS: Partial<Record<FaultKind, Answer>> = {
  '5xx-after': ['unknown', page(500)],
  'reset-after': ['unknown', broken('ECONNRESET')],
  truncated: ['unknown', new Response(200, broken('ERR_STREAM_PREMATURE_CLOSE'))],
  malformed: ['unknown', new Response(200, '{"id": "tx-')],
};

export class Wire implements Server {
  readonly #world: World;
  readonly #counts = new Map<Operation, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends a request, which leaves when its process is no longer frozen. */
  send(url: string, request: RequestInit, process: Process, told: Told): Sending {
    const { agenda } = this.#world;
    const sending = new Sending(agenda, this, readRequest(url, request), process, told);
    if (process.now <= agenda.now) this.#leave(sending);
    else agenda.at(process.now, () => this.#leave(sending));
    return sending;
  }

  #leave(sending: Sending): void {
    const { agenda, life, service } = this.#world;
    const { now } = agenda;
    if (sending.over || sending.process.isDead) return;
    const { operation } = sending.asked;
    const nth = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, nth);
    const seed = mixed(life.seed, 77) + operation.length * 7;
    const there = (2 + (mixed(seed, nth) % 59)) * (this.#world.has('slow') ? 60 : 1);
    const back = mixed(seed, -nth) % 21;
    sending.request = service.enter(sending.asked, now);
    if (this.#world.has('outage')) {
      sending.answerAt(now + back, () => ['not-done', broken('ECONNREFUSED')]);
      return;
    }
    const planned = life.happenings.find(
      (one) => one.do === 'fault' && one.nth === nth && one.operation === operation,
    );
    const { fault, ms } = planned?.do === 'fault' ? planned : { fault: this.brokenBy(operation), ms: 0 };
    this.#travel(sending, fault, now + there + (fault === 'delay' ? ms : 0), back, ms);
    if (!sending.process.heard) sending.abandon();
  }

  #travel(sending: Sending, fault: FaultKind | undefined, arrival: number, back: number, ms: number): void {
    const soon = 1 + (ms % ARRIVES_WITHIN_MS);
    const answered = arrival + back + (fault === 'slow-answer' ? ms : 0);
    const seconds = String(Math.round((ms % 5_000) / 1_000));
    const instead: Answer | undefined =
      fault === '429' ? ['not-done', new Response(429, '', seconds)] : fault && INSTEAD[fault];
    if (fault === '5xx-late') sending.commitAt(answered + soon);
    if (fault === 'late') sending.lateMs = soon;
    if (instead !== undefined) sending.answerAt(answered, () => instead);
    if (instead !== undefined || fault === 'late' || fault === 'hang-before') return;
    sending.commitAt(arrival);
    if (fault !== 'hang-after') sending.answerAt(answered, () => answerOf(sending, fault));
  }

  /** @returns how every request of the operation fails now, if it does */
  brokenBy(operation: Operation): FaultKind | undefined {
    const { agenda, life } = this.#world;
    for (const one of life.happenings)
      if (one.do === 'broken' && one.operation === operation && agenda.now >= START + one.at)
        return one.fault;
    return undefined;
  }

  /** @returns what the screening service says to a request that has arrived; undefined: it doesn't know the key */
  arrive(request: BookedRequest): Said | undefined {
    const { service, agenda } = this.#world;
    return this.#world.has('wrong-key') ? undefined : service.commit(request, agenda.now);
  }
}

function answerOf({ said, asked }: Sending, fault: FaultKind | undefined): Answer {
  if (said === undefined) return FORBIDDEN;
  const lost = fault && AFTERWARDS[fault];
  if (lost !== undefined) return lost;
  if (said.is === 'transaction') {
    const { id, decision } = said;
    if (fault === 'unknown-decision') return ['unreadable', json(200, { id, decision: 'perhaps' })];
    if (fault === 'without-id') return ['unreadable', json(200, { decision })];
  }
  return [said.is, responseOf(said, asked.operation)];
}
