/** Whoever asks something of the order: they send, are told, send again; and what they were told is kept. */
import { decisionUpdateId, retryUpdateId } from '../../../src/contract/ids.ts';
import type { PortalFields } from '../../../src/contract/messages.ts';
import { instant } from '../../../src/contract/words.ts';
import type { Reply, Request, Sent } from '../../../src/order/order.ts';
import { answerNow } from '../../../src/order/view/answers.ts';
import type { BookedCall } from '../../books/asked.ts';
import { ANOTHERS_ID } from '../network/service.ts';
import { ADOPTED_ID } from '../plan/adopted-lives.ts';
import type { Call, Named } from '../plan/happenings.ts';
import { START, transactionOf } from '../plan/life.ts';
import type { Run } from '../temporal/run.ts';
import { type Outcome, refusalIn } from '../temporal/task.ts';
import type { World } from '../world.ts';

/** How often one request is sent anew that was turned away, at growing pauses. */
const AT_MOST = 12;
const FIRST_PAUSE_MS = 1_500;
const LONGEST_PAUSE_MS = 120_000;

/** They change nothing that is judged by the books. */
const UNBOOKED: Request['kind'][] = ['note', 'assign', 'snooze'];

export class Callers {
  /** What each asked and was told, with when. */
  readonly book: BookedCall[] = [];
  readonly #world: World;
  readonly #run: () => Run;
  readonly #onAnswer: (() => void)[] = [];
  #answered = false;
  #ids = 0;
  /** Those who wait for an answer, by what they asked. */
  readonly waiting = new Set<{ what: string; since: number }>();

  constructor(world: World, run: () => Run) {
    this.#world = world;
    this.#run = run;
  }

  /** Calls when the checkout has its first answer. */
  whenAnswered(happen: () => void): void {
    if (this.#answered) happen();
    else this.#onAnswer.push(happen);
  }

  /** Does what was planned: sends it as often as planned, and once more later. */
  make(call: Call, own: string): void {
    const ask = this.#ask(call, own);
    const fixed = call.id === 'fixed' ? this.#fixedId(call) : undefined;
    const key =
      call.id === 'fixed' && fixed === undefined
        ? { name: own, fingerprint: JSON.stringify(ask) }
        : undefined;
    const wishedAt = key && { wishedAt: this.#world.agenda.now };
    const send = (): void => {
      for (let time = 1; time <= call.times; time += 1)
        this.#send(call, ask, { updateId: fixed ?? this.#ownId(), ...(key && { key }) }, 0, wishedAt);
    };
    send();
    if (call.again !== undefined) this.#world.agenda.at(this.#world.agenda.now + call.again, send);
  }

  /** A caller in the process of a worker is told before it is recorded. */
  toldBefore(checkout: Extract<Reply, { checkout: unknown }>['checkout']): void {
    const request = { attempt: 1 };
    this.book.unshift({ kind: 'decision', request, sentAt: START, at: this.#world.agenda.now, checkout });
    this.#noteAnswer();
  }

  #send(call: Call, ask: Request, sent: Sent, time: number, wished?: Pick<BookedCall, 'wishedAt'>): void {
    const { agenda, tell } = this.#world;
    const id = sent.updateId;
    const sentAt = agenda.now;
    const waits = { what: `${call.do} (${id})`, since: sentAt };
    this.waiting.add(waits);
    tell?.(`somebody asks ${JSON.stringify(ask)} as ${id}`);
    this.#run().update(sent, ask, (outcome) => {
      this.waiting.delete(waits);
      tell?.(`${id} is told ${typeof outcome === 'string' ? outcome : JSON.stringify(outcome)}`);
      const heard = this.#heard(call, outcome);
      if (typeof heard === 'object' && !UNBOOKED.includes(ask.kind))
        this.book.push({ ...ask, ...heard, ...wished, sentAt, at: agenda.now, refusal: refusalIn(heard) });
      const next = this.#again(outcome, id);
      if (next !== undefined && time < AT_MOST) {
        const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** time, LONGEST_PAUSE_MS);
        agenda.at(agenda.now + pauseMs, () =>
          this.#send(call, ask, { ...sent, updateId: next }, time + 1, wished),
        );
      } else if (typeof heard === 'object' && 'checkout' in heard && outcome !== 'closed') {
        // The library reads an order that is over from its result.
        this.#noteAnswer();
      }
    });
  }

  /** @returns under which id it is sent again, or undefined: it isn't */
  #again(outcome: Outcome, id: string): string | undefined {
    if (outcome === 'exhausted') return id;
    if (typeof outcome === 'string') return undefined;
    const code = refusalIn(outcome);
    const again = code === 'busy' || code === 'checkout-under-way';
    // Temporal keeps what became of a request that was taken.
    return again ? ('refused' in outcome ? id : this.#ownId()) : undefined;
  }

  /** @returns what the client library makes of an outcome: it asks an order that is pending or over what became of it */
  #heard(call: Call, outcome: Outcome): Outcome {
    if (call.do !== 'decision' && call.do !== 'retry') return outcome;
    const pending =
      typeof outcome === 'object' && 'checkout' in outcome && outcome.checkout.decision === 'pending';
    const checkout = pending || outcome === 'closed' ? this.#answerNow(call.attempt) : undefined;
    return checkout === undefined ? outcome : { checkout };
  }

  #answerNow(attempt: number) {
    const { order } = this.#run();
    return order && answerNow(order.state, attempt);
  }

  #noteAnswer(): void {
    if (this.#answered) return;
    this.#answered = true;
    for (const happen of this.#onAnswer.splice(0)) happen();
  }

  #ask(call: Call, own: string): Request {
    const { life, stash, agenda } = this.#world;
    switch (call.do) {
      case 'decision':
        return { kind: call.do, request: { attempt: call.attempt, ...fingerprint(call) } };
      case 'adopt':
        return { kind: 'adopt', request: { transactionId: ADOPTED_ID } };
      case 'retry': {
        const { attempt } = call;
        const transaction = transactionOf(life, attempt);
        const cardRef = `card-${attempt}`;
        if (life.card) stash.until.set(cardRef, agenda.now + 900_000);
        const card = life.card && { cardRef };
        const { answerByMs } = life;
        const waits = answerByMs !== undefined && { answerBy: instant(agenda.now + answerByMs) };
        return { kind: 'retry', request: { attempt, transaction, ...card, ...waits, ...fingerprint(call) } };
      }
      case 'gateway-result': {
        const { attempt, result } = call;
        return { kind: 'gateway-result', request: { result, ...(attempt !== undefined && { attempt }) } };
      }
      case 'portal':
        return { kind: 'portal', request: { fields: this.#fields(call) } };
      case 'withdraw':
        return { kind: 'withdraw', request: { number: call.number } };
      case 'override':
        return { kind: 'override', request: { action: call.action, reason: 'by hand' } };
      case 'acknowledge':
        return { kind: 'acknowledge', request: { reason: 'seen' } };
      case 'note':
        return { kind: 'note', request: { text: call.id === 'fixed' ? `once ${own}` : 'called' } };
      case 'assign':
        return { kind: 'assign', request: { assignee: 'ada' } };
      case 'snooze':
        return { kind: 'snooze', request: { until: instant(agenda.now + call.ms), note: 'later' } };
    }
  }

  #fields({ kind, named, variant, force }: Extract<Call, { do: 'portal' }>): PortalFields {
    const id = this.named(named);
    const transactionId = id === undefined ? {} : { transactionId: id };
    switch (kind) {
      case 'cancel':
      case 'report-fraud':
        return { kind, ...transactionId };
      case 'customer-code':
        return {
          kind,
          customerCode: 'c-1',
          ...(variant === 2 && { email: 'other@example.com' }),
          ...transactionId,
        };
      case 'chargeback':
        return {
          kind,
          reason_code: '10.4',
          due_date: '2026-04-01',
          ...(variant === 2 && { notes: 'with a photo' }),
          ...(variant === 1 && { inquiry: 'false' as const }),
          ...(force && { force }),
          ...transactionId,
        };
    }
  }

  /** @returns the id of the transaction that somebody means */
  named(which: Named): string | undefined {
    const { transactions } = this.#world.service;
    if (which === 'none') return undefined;
    if (which === 'another') return ANOTHERS_ID;
    return (which === 'first' ? transactions[0] : transactions.at(-1))?.id;
  }

  /** @returns the id that an attempt's checkout has by its number */
  #fixedId(call: Call): string | undefined {
    if (call.do === 'decision' && call.content === 'same') return decisionUpdateId(call.attempt);
    return call.do === 'retry' && call.content === 'same' ? retryUpdateId(call.attempt) : undefined;
  }

  #ownId(): string {
    this.#ids += 1;
    return `own-${this.#ids}`;
  }
}

/** @returns the fingerprint that a caller sends with an attempt */
function fingerprint({ attempt, content }: Extract<Call, { do: 'retry' | 'decision' }>): {
  fingerprint?: string;
} {
  if (content === 'unsaid') return {};
  return { fingerprint: content === 'same' ? `f-${attempt}` : 'f-other' };
}
