/** What befalls an order in one life. Each stands for itself: a life without one of them is the same life otherwise. */
import type { PortalActionKind } from '../../../src/contract/portal/portal-kinds.ts';
import type { Decision, GatewayResult, OverrideAction } from '../../../src/contract/words.ts';
import type { Operation } from '../../books/books.ts';

/** How a request goes wrong. */
export type FaultKind =
  /** It arrives late, and is answered. */
  | 'delay'
  /** It is done at once, and answered late. */
  | 'slow-answer'
  /** It is never answered: not done, done, or done only some seconds after the caller has given up. */
  | 'hang-before'
  | 'hang-after'
  | 'late'
  | '5xx-before'
  | '5xx-after'
  /** A proxy gave up; the service does it some seconds later. */
  | '5xx-late'
  | 'reset-before'
  | 'reset-after'
  | 'truncated'
  | 'malformed'
  | '429'
  | '403'
  | 'unknown-decision'
  | 'without-id'
  | 'refused-in-body'
  /** A proxy's page: no words of the service. */
  | 'page-404';

/** Which transaction a message names. */
export type Named = 'none' | 'newest' | 'first' | 'another';

/** When somebody does something: milliseconds after the order's start, or after the first answer to its checkout. */
export interface When {
  at: number;
  afterAnswer?: true;
}

/** How many send the same at the same time, and whether they give up waiting and send it again. */
export interface Sent extends When {
  times: number;
  /** Sent again so many milliseconds later. */
  again?: number;
  /** Under the id that is fixed for an attempt, else with an idempotency key; or each time as something new. */
  id: 'fixed' | 'own';
}

export type Call =
  | ({ do: 'decision' | 'retry'; attempt: number; content: 'same' | 'other' | 'unsaid' } & Sent)
  | ({ do: 'adopt' } & Sent)
  | ({ do: 'gateway-result'; attempt?: number; result: GatewayResult } & Sent)
  | ({ do: 'portal'; kind: PortalActionKind; named: Named; variant: number; force: boolean } & Sent)
  | ({ do: 'withdraw'; number: number } & Sent)
  | ({ do: 'override'; action: OverrideAction } & Sent)
  | ({ do: 'acknowledge' | 'note' | 'assign' } & Sent)
  /** So many milliseconds long. */
  | ({ do: 'snooze'; ms: number } & Sent);

export type ByHand =
  | ({ do: 'hint'; by: 'update' | 'signal'; named: Named; times: number } & When)
  | ({ do: 'recheck' | 'cancellation'; times: number } & When)
  /** An analyst decides the first transaction or the one in review. The webhook may be lost, doubled, late or forged. */
  | ({
      do: 'analyst';
      first?: true;
      decision: Decision;
      webhook: 'sent' | 'lost' | 'doubled' | 'late' | 'forged';
    } & When);

/** What is wrong for a while. */
export type Lasting =
  | 'outage'
  | 'wrong-key'
  | 'slow'
  | 'receiver-down'
  | 'workers-away'
  /** The workers' settings lack the integration or its key, or the card stash doesn't answer. */
  | 'no-integration'
  | 'no-key'
  | 'stash-down';

export type OfTheWorld =
  /** The nth request of an operation goes wrong. */
  | { do: 'fault'; operation: Operation; nth: number; fault: FaultKind; ms: number }
  /** Every request of an operation fails alike from then on, for so many milliseconds or for ever. */
  | ({ do: 'broken'; operation: Operation; fault: '5xx-before' | '403'; ms?: number } & When)
  | ({ do: Lasting; ms: number } & When)
  | ({ do: 'uncovered' } & When);

/** What Temporal may do, and what becomes of workers. `nth` counts what it is about from 1. */
export type Liberty =
  /** The nth workflow task is run, and its end is lost: at once, or after its time-out. */
  | { do: 'lose-task'; nth: number; soon: boolean; zombie: boolean }
  | { do: 'late-task'; nth: number; ms: number }
  /** Before its nth task the order is taken up by a worker that has never seen it. */
  | { do: 'forget'; nth: number }
  /** The nth try of an activity: dies after so many ms; runs on unheard; is heard only after so many ms. */
  | { do: 'lose-try'; nth: number; how: 'dies' | 'zombie' | 'end-lost' | 'late-end'; ms: number }
  /** So many ms after its begin an operator fails the activity of the nth try in Temporal: it runs on unheard. */
  | { do: 'end-by-hand'; nth: number; ms: number }
  | { do: 'late-try'; nth: number; ms: number }
  /** The pause after the nth try of an activity isn't kept: the next one comes after so many ms. */
  | { do: 'early-try'; nth: number; ms: number }
  /** The process of the nth try stands still before it reads its clock for the nth time, and goes on unaware. */
  | { do: 'stall'; nth: number; reading: number; ms: number }
  /** What the nth try told the next one is lost. */
  | { do: 'lose-heartbeat'; nth: number }
  | { do: 'late-timer'; nth: number; ms: number }
  /** The workers' clock is fast by so much, from so many milliseconds after the order's start and until then: it was set. */
  | { do: 'skew'; ms: number; from?: number; until?: number }
  /** The first screening's own code fails. */
  | { do: 'break-down' }
  /** Once the history has so many tasks; `afterReset`: only in a run that a reset made. */
  | { do: 'continue'; afterTask: number; afterReset?: true }
  /** To the end of the task of this number, or of the last before it. */
  | ({ do: 'reset'; toTask: number } & When);

export type Happening = Call | ByHand | OfTheWorld | Liberty;
