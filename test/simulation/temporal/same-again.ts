/** Tries that are certain to fail alike: they are left out, since a life has no time for thousands of them. */

import type { ActivityCall } from '../../../src/workflows/perform.ts';
import { type Operation, PORTAL_OPERATIONS } from '../../books/books.ts';
import { decisionOf } from '../network/service.ts';
import type { World } from '../world.ts';

/** @returns until when a call that failed for this reason is certain to fail for it again, for ever perhaps; else 0 */
export function sameUntil({ wire, agenda }: World, call: ActivityCall, why: string): number {
  // A cancel ends with its window, by itself.
  if (call.kind === 'deliver' || (call.kind === 'portal' && call.request.notAfter !== undefined)) return 0;
  const isBroken = why === 'http-5xx' || why === 'forbidden';
  const brokenUntil = Math.max(0, ...operationsOf(call).map((one) => wire.brokenBy(one)?.until ?? 0));
  if (isBroken && brokenUntil > 0) return brokenUntil;
  if (why === 'forbidden') return agenda.endOf('wrong-key');
  return why === 'connection-refused' ? agenda.endOf('outage') : 0;
}

/** @returns whether a poll is certain to find the same until something changes */
export function mayPark({ wire, agenda }: World, call: ActivityCall): boolean {
  if (call.kind !== 'poll' || wire.brokenBy('status') !== undefined) return false;
  const { known, transactionId } = call.request;
  const found = wire.service.find(transactionId);
  return found !== undefined && decisionOf(found) === known && !agenda.isIn('wrong-key');
}

function operationsOf(call: ActivityCall): Operation[] {
  switch (call.kind) {
    case 'catch-up':
      return ['create-transaction', 'status-by-invoice'];
    case 'look-up':
      return ['status-by-invoice'];
    case 'read':
    case 'poll':
    case 'last-read':
      return ['status'];
    case 'gateway':
      return ['gateway-response'];
    case 'portal':
      return [PORTAL_OPERATIONS[call.request.fields.kind]];
    default:
      return [];
  }
}
