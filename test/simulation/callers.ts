/** Order services and operators: they send, are answered or refused, send again; the books keep what they were told. */
import { answerNow } from '../../src/orders/answers.ts';
import type { Request } from '../../src/orders/order.ts';
import type { BookedCall } from '../books/books.ts';
import { asked, fixedIdOf } from './asks.ts';
import type { Call } from './happenings.ts';
import type { Run } from './run.ts';
import type { Outcome } from './task.ts';
import type { World } from './world.ts';

/** How often a request that was turned away is sent again, at growing pauses. */
const AT_MOST = 12;
const FIRST_PAUSE_MS = 1_500;
const LONGEST_PAUSE_MS = 120_000;

export class Callers {
  readonly book: BookedCall[] = [];
  readonly waiting = new Map<number, string>();
  readonly #world: World;
  readonly #run: () => Run;
  readonly #onAnswer: (() => void)[] = [];
  #answered = false;
  #ids = 0;
  #sent = 0;

  constructor(world: World, run: () => Run) {
    this.#world = world;
    this.#run = run;
  }

  whenAnswered(happen: () => void): void {
    if (this.#answered) happen();
    else this.#onAnswer.push(happen);
  }

  /** Sends a planned call as often as planned, and once more later. */
  make(call: Call, own: string): void {
    const { agenda } = this.#world;
    const ask = asked(this.#world, call);
    const fixed = call.id === 'fixed' ? fixedIdOf(call, own) : undefined;
    const send = (): void => {
      for (let time = 1; time <= call.times; time += 1) this.#send(call, ask, fixed ?? this.#ownId(), 0);
    };
    send();
    if (call.again !== undefined) agenda.at(agenda.now + call.again, send);
  }

  #send(call: Call, ask: Request, id: string, time: number): void {
    const { agenda, tell } = this.#world;
    const number = ++this.#sent;
    const sentAt = agenda.now;
    this.waiting.set(number, `${call.do} (${id}) of ${new Date(sentAt).toISOString()}`);
    tell?.(`a caller asks ${JSON.stringify(ask)} as ${id}`);
    this.#run().update(id, ask, (outcome) => {
      this.waiting.delete(number);
      tell?.(`${id} is told ${JSON.stringify(outcome)}`);
      const heard = this.#heard(call, outcome);
      if (typeof heard !== 'string') this.book.push(bookedCall(ask, heard, { sentAt, at: agenda.now }));
      const next = this.#again(outcome, id);
      if (next !== undefined && time < AT_MOST) {
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** time, LONGEST_PAUSE_MS);
        agenda.at(agenda.now + pauseMs, () => this.#send(call, ask, next, time + 1));
      } else if (typeof outcome !== 'string' && 'checkout' in outcome) this.#noteAnswer();
    });
  }

  /** @returns under which id it is sent again; undefined: it isn't */
  #again(outcome: Outcome, id: string): string | undefined {
    if (outcome === 'exhausted') return id;
    if (typeof outcome === 'string') return undefined;
    const code = refusalIn(outcome);
    if (code !== 'busy' && code !== 'checkout-under-way') return undefined;
    // Temporal keeps what became of a request that was taken.
    return 'refused' in outcome ? id : this.#ownId();
  }

  /** @returns the outcome as the client library reports it: it reads an order that is pending or over */
  #heard(call: Call, outcome: Outcome): Outcome {
    if (call.do !== 'decision' && call.do !== 'retry') return outcome;
    const pending =
      typeof outcome === 'object' && 'checkout' in outcome && outcome.checkout.decision === 'pending';
    const { order } = this.#run().worker;
    if (order === undefined || !(pending || outcome === 'closed')) return outcome;
    const checkout = answerNow(order.state, call.attempt);
    return checkout === undefined ? outcome : { checkout };
  }

  #noteAnswer(): void {
    this.#answered = true;
    for (const happen of this.#onAnswer.splice(0)) happen();
  }

  #ownId(): string {
    this.#ids += 1;
    return `own-${this.#ids}`;
  }
}

type Told = Exclude<Outcome, string>;

function refusalIn(outcome: Told): string | undefined {
  if ('refused' in outcome) return outcome.refused;
  return 'refusal' in outcome ? outcome.refusal.code : undefined;
}

function bookedCall(ask: Request, outcome: Told, times: { sentAt: number; at: number }): BookedCall {
  const refusal = refusalIn(outcome);
  const when = { ...times, ...(refusal !== undefined && { refusal }) };
  const taken = refusal === undefined;
  const portal = 'portal' in outcome ? outcome.portal : undefined;
  switch (ask.kind) {
    case 'decision':
    case 'adopt':
    case 'retry': {
      const answer = 'checkout' in outcome && { answer: outcome.checkout };
      return {
        ...when,
        asks: 'checkout',
        attempt: ask.kind === 'adopt' ? 1 : ask.request.attempt,
        ...answer,
      };
    }
    case 'gateway-result': {
      const { attempt, result } = ask.request;
      const taken = 'gateway' in outcome && outcome.gateway.result === result;
      return { ...when, asks: 'gateway-result', result, taken, ...(attempt != null && { attempt }) };
    }
    case 'portal':
      return { ...when, asks: 'portal', fields: ask.fields, ...(portal && { status: portal.status }) };
    case 'withdraw':
      return { ...when, asks: 'withdraw' };
    case 'override':
      return { ...when, asks: 'override', action: ask.request.action, taken };
    case 'acknowledge':
      return { ...when, asks: 'acknowledge', taken, cleared: 'cleared' in outcome ? outcome.cleared : 0 };
  }
}
