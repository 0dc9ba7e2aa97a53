/** The fingerprint of an order that was started without one, by a tool that is none of ours. */
import type { Fingerprinted, ScreenRequest } from '../orders/activity-contract.ts';
import { fingerprint, fingerprintOfRaw, type ParsedTransaction } from '../screening/index.ts';

/** @returns the fingerprint of the transaction as the client library would have computed it, if the start named none */
export function contentFingerprint(
  { fingerprintMissing, transaction }: ScreenRequest,
  checked: ParsedTransaction,
): Fingerprinted {
  if (fingerprintMissing !== true) return {};
  return { fingerprint: checked.ok ? fingerprint(checked.transaction) : fingerprintOfRaw(transaction) };
}
