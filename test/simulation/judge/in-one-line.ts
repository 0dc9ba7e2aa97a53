/** A step in one line, for a person who reads a life. */
import type { Command, Input, Order } from '../../../src/order/order.ts';
import { inShort } from '../temporal/task.ts';

/** @returns what came, where the order is now and what it does */
export function inOneLine({ state }: Order, input: Input, commands: readonly Command[]): string {
  const { phase, decision, action } = state;
  const attention = state.attention.map(({ code }) => ` ! ${code}`).join('');
  const does = commands.map((one) => ` ${doneBy(one)}`).join('');
  return `${cameBy(input)} → ${phase}, ${decision}, ${action}${attention} does${does || ' nothing'}`;
}

function cameBy(input: Input): string {
  if (input.kind === 'signal') return `signal ${input.signal.kind}`;
  if (input.kind === 'request') return `asked ${input.request.kind} at ${input.at}`;
  return `end of ${input.id}: ${JSON.stringify(input.outcome)}`;
}

function doneBy(command: Command): string {
  if (command.do !== 'start') return inShort(command);
  const { id, effect } = command.running;
  return effect.call.kind === 'timer' ? `+${id} ${effect.key} at ${effect.call.at}` : `+${id} ${effect.key}`;
}
