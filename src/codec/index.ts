/** The payload codec: what Temporal keeps of an order is encrypted before it leaves a process. */
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec, type PayloadRules } from './payload-codec.ts';
import type { NamedKey } from './sealer.ts';

export { createPayloadCodec, PayloadCodecError } from './payload-codec.ts';

/**
 * For every client and worker of a deployment, as its option `dataConverter`. Without it an order's answers can't be read. A payload in an
 * encoding that the SDK cannot read becomes a marked value (`whyUnread`), in workflows, activities and clients.
 *
 * @param keys those of PAYLOAD_KEYS. The first encrypts, failures included; all decrypt. None: everything stays in plain,
 *   and what is encrypted is refused by the name of its key
 * @param rules whether payloads in plain are refused (PAYLOADS_REQUIRED), and what becomes of what is refused
 */
export function createDataConverter(keys: readonly NamedKey[], rules: PayloadRules = {}): DataConverter {
  return {
    payloadCodecs: [createPayloadCodec(keys, rules)],
    payloadConverterPath: fileURLToPath(new URL('./payload-converter.cjs', import.meta.url)),
    ...(keys.length > 0 && {
      failureConverterPath: fileURLToPath(new URL('./failure-converter.cjs', import.meta.url)),
    }),
  };
}
