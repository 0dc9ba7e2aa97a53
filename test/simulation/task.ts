/** What the history keeps of a workflow task: what it took in, and what it made of it. */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { Ask, End, Input, Reply } from '../../src/orders/order.ts';

/** An update as the server keeps it. */
export interface Update {
  id: string;
  message: { ask: Ask };
  /** Whoever waits for its outcome. */
  callers: ((outcome: Outcome) => void)[];
  ticket?: number;
  /** When the order took it. */
  acceptedAt?: number;
  /** Stored for ever once the order took it. */
  outcome?: Reply;
}

/** What a caller is told. */
export type Outcome =
  | Reply
  /** Refused before it was taken: it leaves no trace. */
  | { refused: string }
  /** Too many updates in flight. */
  | 'exhausted'
  /** The order is over, and knows nothing of this id. */
  | 'closed';

/** What waits for the next task, in the order of history. */
export type Arrival =
  | { kind: 'end'; number: number; end: End }
  | { kind: 'update'; update: Update }
  | { kind: 'signal'; input: Extract<Input, { kind: 'signal' }> };

export interface Task {
  number: number;
  /** When it began, and when its end was recorded. */
  at: number;
  recordedAt: number;
  /** Its place among all tasks that were recorded. */
  place: number;
  /** Whether the order was over after it. */
  over: boolean;
  batch: Arrival[];
  /** What was put into the inbox, in this order. */
  inputs: Input[];
  /** Ends of local activities, by their number. */
  locals: Map<number, Extract<Input, { kind: 'end' }>>;
  /** What was taken in, in this order. */
  taken: Input[];
  commands: Command[];
  /** With those that came to nothing, since what they stop had ended already. */
  all: Command[];
  replies: Reply[];
  refusals: { update: Update; code: string }[];
  accepted: Update[];
  ends?: 'completed' | 'continued';
}

/** @returns the command in a few letters, without the arguments that Temporal doesn't compare */
export function inShort(command: Command): string {
  return command.do === 'stop'
    ? `-${command.number}${command.waits ? '!' : ''}`
    : `+${command.number}${command.call.kind}`;
}
