/** What planned calls ask of the order. */
import { decisionUpdateId, retryUpdateId } from '../../src/contract/ids.ts';
import type { PortalFields, TransactionJson } from '../../src/contract/messages.ts';
import type { Request } from '../../src/orders/order.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { ADOPTED_ID } from './adopted-lives.ts';
import type { Call, Named } from './happenings.ts';
import type { Life } from './life.ts';
import { ANOTHERS_ID } from './service.ts';
import type { World } from './world.ts';

const BASE = aTransaction();

type Attempt = Extract<Call, { content: unknown }>;

export function asked(world: World, call: Call): Request {
  switch (call.do) {
    case 'decision':
      return { kind: 'decision', request: attemptOf(call) };
    case 'adopt':
      return { kind: 'adopt', request: { transactionId: ADOPTED_ID } };
    case 'retry': {
      const cardRef = `card-${call.attempt}`;
      if (world.life.card) world.stash.set(cardRef, world.agenda.now + 900_000);
      const transaction = transactionOf(world.life, call.attempt);
      return {
        kind: 'retry',
        request: { ...attemptOf(call), transaction, ...(world.life.card && { cardRef }) },
      };
    }
    case 'gateway-result': {
      const { attempt, result } = call;
      return { kind: 'gateway-result', request: { result, ...(attempt !== undefined && { attempt }) } };
    }
    case 'portal':
      return { kind: 'portal', fields: fieldsOf(world, call) };
    case 'withdraw':
      return { kind: 'withdraw', request: { number: call.number } };
    case 'override':
      return { kind: 'override', request: { action: call.action, reason: 'by hand' } };
    case 'acknowledge':
      return { kind: 'acknowledge', request: { reason: 'seen' } };
  }
}

/** @returns what an attempt sends: it names its attempt, so that the screening service knows what it is to decide */
export function transactionOf({ amount, laterAmount }: Life, attempt: number): TransactionJson {
  const own = attempt === 1 ? amount : laterAmount;
  return { ...BASE, amount: String(own), userFields: { attempt: String(attempt) } };
}

function attemptOf({ attempt, content }: Attempt): { attempt: number; fingerprint?: string } {
  if (content === 'unsaid') return { attempt };
  return { attempt, fingerprint: content === 'same' ? `f-${attempt}` : 'f-other' };
}

function fieldsOf(
  world: World,
  { kind, named, variant, force }: Extract<Call, { do: 'portal' }>,
): PortalFields {
  const id = idOf(world, named);
  const transactionId = id === undefined ? {} : { transactionId: id };
  switch (kind) {
    case 'cancel':
    case 'report-fraud':
      return { kind, ...transactionId };
    case 'customer-code':
      return { kind, customerCode: `c-${variant}`, ...transactionId };
    case 'chargeback': {
      const content = { reason_code: '10.4', due_date: `2026-04-0${variant}` };
      return { kind, ...content, ...(force && { force }), ...transactionId };
    }
  }
}

/** @returns the id of the transaction that a message names */
export function idOf({ service: { transactions } }: World, which: Named): string | undefined {
  if (which === 'none') return undefined;
  if (which === 'another') return ANOTHERS_ID;
  return (which === 'first' ? transactions[0] : transactions.at(-1))?.id;
}

/** @returns the update id that is fixed for the call, by default `own` */
export function fixedIdOf(call: Call, own: string): string {
  if (call.do === 'decision' && call.content === 'same') return decisionUpdateId(call.attempt);
  return call.do === 'retry' && call.content === 'same' ? retryUpdateId(call.attempt) : own;
}
