/** What the history keeps of a workflow task: what it took in, and what it made of it. */
import type { CheckedOut } from '../../../src/contract/activity-contract.ts';
import type {
  Command,
  Outcome as EffectOutcome,
  Input,
  Reply,
  Request,
  Sent,
} from '../../../src/order/order.ts';

/** A request as an input. */
export type Asked = Extract<Input, { kind: 'request' }>;

/** An update as the server keeps it. */
export interface Update {
  id: string;
  ask: Request;
  /** The caller's idempotency key. */
  key: Sent['key'];
  /** Whoever waits for its outcome. */
  callers: ((outcome: Outcome) => void)[];
  /** Since the order took it. */
  input?: Asked;
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

/** @returns why a caller was turned away, if they were */
export function refusalIn(outcome: Exclude<Outcome, string>): string | undefined {
  if ('refused' in outcome) return outcome.refused;
  return 'refusal' in outcome ? outcome.refusal.code : undefined;
}

/** What waits for the next task, in the order of history. */
export type Arrival =
  | { kind: 'end'; id: number; outcome: EffectOutcome }
  | { kind: 'update'; update: Update }
  | { kind: 'signal'; input: Extract<Input, { kind: 'signal' }> };

export interface Task {
  number: number;
  /** When it began, and when its end was recorded. */
  at: number;
  recordedAt: number;
  batch: Arrival[];
  /** What was put into the queue, in this order. */
  inputs: Input[];
  /** The checkout's activity ended in it. */
  checkout?: { result: CheckedOut | undefined };
  /** What was taken in, in this order. */
  taken: Input[];
  /** The history was long: what waits for its next try was canceled. */
  wrapsUp?: true;
  commands: Command[];
  /** With those that came to nothing, since what they stop had ended already. */
  all: Command[];
  replies: { update: Update; reply: Reply }[];
  refusals: { update: Update; code: string }[];
  accepted: Update[];
  ends?: 'completed' | 'continued';
}

export function openTask(number: number, at: number): Task {
  const made = { commands: [], all: [], replies: [], refusals: [], accepted: [] };
  return { number, at, recordedAt: 0, batch: [], inputs: [], taken: [], ...made };
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
function isCommand(command: Command, waiting: readonly Input[]): boolean {
  if (command.do !== 'drop' && command.do !== 'cancel') return true;
  return !waiting.some((one) => one.kind === 'effect-ended' && one.id === command.id);
}

/** Notes with a task what it asks for beside the inputs that it has left. */
export function note(task: Task, commands: readonly Command[], left: readonly Input[]): void {
  task.all.push(...commands);
  task.commands.push(...commands.filter((one) => isCommand(one, left)));
}

/** @returns a request as another worker takes it in, which knows nothing of what became of it */
export function anew(input: Input): Input {
  if (input.kind !== 'request') return input;
  const { taken: _unknown, ...asked } = input;
  return asked;
}
