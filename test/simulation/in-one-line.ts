/** A step in one line, for a person who reads a life. */
import type { Command } from '../../src/orders/activity-contract.ts';
import type { Ask, Input, Order, Reply } from '../../src/orders/order.ts';

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
    case 'end': {
      const { number, end } = input;
      if (end.how !== 'done') return `end of ${number}: ${end.how}`;
      const { result } = end;
      const outcome = 'outcome' in result ? ` ${JSON.stringify(result.outcome)}` : '';
      return `end of ${number} ${result.kind}${outcome}`;
    }
    case 'ask':
      return `asked (${input.ticket}) ${askWords(input.ask)} at ${input.at}`;
    case 'signal':
      return `signal ${input.signal}${'hint' in input ? ` ${JSON.stringify(input.hint)}` : ''}`;
  }
}

export function askWords(ask: Ask): string {
  switch (ask.kind) {
    case 'portal':
      return JSON.stringify(ask.fields);
    case 'retry':
      return `retry ${ask.request.attempt}`;
    default:
      return `${ask.kind} ${JSON.stringify(ask.request)}`;
  }
}

function told(reply: Reply): string {
  if ('refusal' in reply) return `(${reply.ticket}) ${reply.refusal.code}`;
  if ('checkout' in reply) return `(${reply.ticket}) ${reply.checkout.decision} ${reply.checkout.action}`;
  if ('portal' in reply) return `(${reply.ticket}) ${reply.portal.status}`;
  if ('override' in reply) return `(${reply.ticket}) ${reply.override.action}`;
  return `(${reply.ticket}) ${'gateway' in reply ? reply.gateway.action : 'cleared'}`;
}

function done(command: Command): string {
  if (command.do === 'stop') return `stop ${command.number}${command.waits ? ' and wait' : ''}`;
  const { number, call } = command;
  switch (call.kind) {
    case 'timer':
      return `${number} timer ${call.at} (${call.summary})`;
    case 'catch-up':
    case 'retry-screening': {
      const { unseenSince, invoiceNumber } = call.request;
      return `${number} ${call.kind} ${invoiceNumber}${unseenSince ? ', looking first' : ''}`;
    }
    case 'deliver':
      return `${number} deliver ${call.events.map((one) => `${one.sequence} ${one.type}`).join(' + ')}`;
    default:
      return `${number} ${call.kind}`;
  }
}
