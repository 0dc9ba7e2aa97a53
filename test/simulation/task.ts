/** What the history keeps of a workflow task: what it took in, and what it made of it. */
import type { CheckedOut } from '../../src/contract/activity-contract.ts';
import type { Command, Outcome as EffectOutcome, Input, Reply, Request } from '../../src/orders/order.ts';

export type Asked = Extract<Input, { kind: 'request' }>;

/** An update as the server keeps it. */
export interface Update {
  id: string;
  ask: Request;
  callers: ((outcome: Outcome) => void)[];
  /** Since the order took it. */
  input?: Asked;
  acceptedAt?: number;
  /** Stored for ever once the order took it. */
  outcome?: Reply;
}

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
  | { kind: 'end'; id: number; outcome: EffectOutcome }
  | { kind: 'update'; update: Update }
  | { kind: 'signal'; input: Extract<Input, { kind: 'signal' }> };

export class Task {
  readonly number: number;
  /** When it began, and when its end was recorded. */
  readonly at: number;
  recordedAt = 0;
  readonly batch: Arrival[] = [];
  /** What was put into the queue, in this order. */
  readonly inputs: Input[] = [];
  /** The checkout's activity ended in it. */
  checkout: { result: CheckedOut | undefined } | undefined;
  /** What was taken in, in this order. */
  readonly taken: Input[] = [];
  /** The history was long: what waits for its next try was canceled. */
  wrapsUp = false;
  readonly commands: Command[] = [];
  /** With those that came to nothing, since what they stop had ended already. */
  readonly all: Command[] = [];
  readonly replies: { update: Update; reply: Reply }[] = [];
  readonly refusals: { update: Update; code: string }[] = [];
  readonly accepted: Update[] = [];
  ends: 'completed' | 'continued' | undefined;

  constructor(number: number, at: number) {
    this.number = number;
    this.at = at;
  }
}

/** @returns the command in a few letters, without the arguments that Temporal doesn't compare */
export function inShort(command: Command): string {
  switch (command.do) {
    case 'start':
      return `+${command.running.id}${command.running.effect.call.kind}`;
    case 'cancel':
      return `-${command.id}!`;
    case 'drop':
      return `-${command.id}`;
    case 'count-signals':
      return 'signals';
  }
}

/** To stop what has ended already is no command. */
export function isCommand(command: Command, waiting: readonly Input[]): boolean {
  if (command.do !== 'drop' && command.do !== 'cancel') return true;
  return !waiting.some((one) => one.kind === 'effect-ended' && one.id === command.id);
}

/** @returns a request as another worker takes it in, which knows nothing of what became of it */
export function anew(input: Input): Input {
  if (input.kind !== 'request') return input;
  const { taken: _unknown, ...asked } = input;
  return asked;
}
