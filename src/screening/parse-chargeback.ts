import { type Chargeback, chargebackSchema } from './portal-schema.ts';
import { schemaFindings } from './schema-findings.ts';
import { toDefinitionSpelling } from './spellings.ts';
import type { Fault } from './vocabulary.ts';

export type ParsedChargeback = { ok: true; chargeback: Chargeback } | { ok: false; faults: Fault[] };

/**
 * Reads the fields of a chargeback in either spelling, without key and transaction id ("Portal-action operations").
 * Lists every fault at once, with no value that was sent.
 */
export function parseChargeback(input: unknown): ParsedChargeback {
  const { value, findings, shownPath } = toDefinitionSpelling(chargebackSchema, input);
  const parsed = chargebackSchema.safeParse(value);
  const all = [...findings, ...(parsed.success ? [] : schemaFindings(parsed.error, value))];
  if (parsed.success && all.length === 0) return { ok: true, chargeback: parsed.data };
  return { ok: false, faults: all.map(({ path, message }) => ({ path: shownPath(path), message })) };
}
