/** The old way: whoever screened the merchant's orders before, straight at the service. */
import { createScreeningClient, parseTransaction } from '../../src/screening/index.ts';
import { withEmail } from '../fixtures/transactions.ts';
import { anOrderId, type Deployment } from './support.ts';

/** Screens an order without us. @returns the id of its transaction */
export async function screenedByPlugin(
  { sandbox, settings }: Deployment,
  invoiceNumber: string,
  decision = 'review',
): Promise<string> {
  const client = createScreeningClient({
    baseUrl: sandbox.testBaseUrl,
    portalBaseUrl: sandbox.portalBaseUrl,
    dialect: 'definition',
    apiKey: settings.SCREENING_API_KEY ?? '',
  });
  const rules = { workflow: 'pre-acceptance', mode: 'test', now: new Date() } as const;
  const parsed = parseTransaction(withEmail(`${decision}@example.com`), rules);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.fieldErrors));
  const { transaction } = parsed;
  return (await client.createTransaction({ transaction, enrich: false, invoiceNumber })).id;
}

/** @returns what adopts a transaction of today */
export async function adoptable(all: Deployment): Promise<{ transactionId: string; screenedAt: string }> {
  return { transactionId: await screenedByPlugin(all, anOrderId()), screenedAt: ago(1_000) };
}

/** @returns a moment that long ago, as a plugin has it in its table */
export function ago(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}
