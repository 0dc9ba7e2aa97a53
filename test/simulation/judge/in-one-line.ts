/** A step in one line, for a person who reads a life. */
import type { Command, Input, Order, Reply, Request } from '../../../src/order/order.ts';

/** @returns what came, where the order is now, what it said and what it does */
export function inOneLine(
  { state }: Order,
  input: Input,
  replies: readonly Reply[],
  commands: readonly Command[],
): string {
  const { phase, decision, action } = state;
  const parts = [wordsOf(input), `→ ${phase}, ${decision}, ${action}`];
  if (state.attention.length > 0) parts.push(`! ${state.attention.map(({ code }) => code).join(' ')}`);
  if (replies.length > 0) parts.push(`tells ${replies.map(told).join(', ')}`);
  if (commands.length > 0) parts.push(`does ${commands.map(done).join(', ')}`);
  return parts.join(' ');
}

function wordsOf(input: Input): string {
  switch (input.kind) {
    case 'effect-ended': {
      const { id, outcome } = input;
      if (outcome.status !== 'completed') return `end of ${id}: ${outcome.status}`;
      const { result } = outcome;
      return `end of ${id} ${result.kind}${'outcome' in result ? ` ${JSON.stringify(result.outcome)}` : ''}`;
    }
    case 'request':
      return `asked ${askWords(input.request)} at ${input.at}`;
    case 'signal':
      return `signal ${input.signal.kind}`;
  }
}

function askWords(ask: Request): string {
  switch (ask.kind) {
    case 'portal':
      return JSON.stringify(ask.request.fields);
    case 'retry':
      return `retry ${ask.request.attempt}`;
    default:
      return `${ask.kind} ${JSON.stringify(ask.request)}`;
  }
}

function told(reply: Reply): string {
  if ('refusal' in reply) return reply.refusal.code;
  if ('checkout' in reply) return `${reply.checkout.decision} ${reply.checkout.action}`;
  if ('portal' in reply) return reply.portal.status;
  if ('override' in reply) return reply.override.action;
  return 'gateway' in reply ? reply.gateway.action : 'cleared';
}

function done(command: Command): string {
  switch (command.do) {
    case 'count-signals':
      return 'count signals';
    case 'start': {
      const { id, effect } = command.running;
      const { call } = effect;
      if (call.kind === 'timer') return `${id} timer ${call.at} (${call.summary})`;
      if (call.kind === 'deliver')
        return `${id} deliver ${call.events.map((one) => `${one.sequence} ${one.type}`).join(' + ')}`;
      return `${id} ${effect.key}`;
    }
    default:
      return `${command.do} ${command.id}`;
  }
}
