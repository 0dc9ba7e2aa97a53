import type { OrderEvidence } from './evidence.ts';
import type { Finding } from './verdict.ts';

/** Each create once: one transaction an invoice number, and each of them known to the order. */
export function createsOf({ run, ledger, transactions }: OrderEvidence): Finding[] {
  const findings: Finding[] = [];
  const made = ledger.filter((entry) => entry.operation === 'create-transaction' && entry.committed);
  const byInvoice = new Map<string, number>();
  for (const { invoiceNumber } of made) {
    const invoice = invoiceNumber ?? 'none';
    byInvoice.set(invoice, (byInvoice.get(invoice) ?? 0) + 1);
  }
  for (const [invoice, count] of byInvoice) {
    if (count > 1)
      findings.push({ kind: 'transaction created twice', facts: `${count} creates of ${invoice}` });
  }
  if (run.state === undefined) return findings;
  const known = new Set(run.state.attempts.flatMap((attempt) => attempt.transactionIds));
  const real = new Set(transactions.map(({ id }) => id));
  for (const id of known) {
    if (!real.has(id))
      findings.push({ kind: 'transaction unaccounted for', facts: `${id} was never created` });
  }
  // A reply without an id can't be recorded; a screening that was given up at its deadline isn't looked up any more.
  const nameless = new Set(
    made.filter(({ fault }) => fault === 'reply-without-id').map(({ transactionId }) => transactionId),
  );
  const givenUp = run.state.passed.includes('screening-deadline');
  for (const { id, invoiceNumber } of transactions) {
    if (known.has(id) || nameless.has(id) || givenUp) continue;
    findings.push({
      kind: 'transaction unaccounted for',
      facts: `${id} (${invoiceNumber}) is on no attempt`,
    });
  }
  return findings;
}
