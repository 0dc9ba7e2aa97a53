/** The payload codec, which encrypts all order data that is sent to Temporal. */
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { createPayloadCodec, type PayloadRules } from './payload-codec.ts';
import type { NamedKey } from './sealer.ts';

export { createPayloadCodec, ownerOf, PayloadCodecError } from './payload-codec.ts';

/**
 * Creates the option `dataConverter` for every client and worker of a deployment. Without it an order's answers can't be read. A payload
 * in an encoding that the SDK can't read becomes a marked value (`whyUnread`) in workflows, activities and clients.
 *
 * @param keys from PAYLOAD_KEYS. The first encrypts payloads and failures, all decrypt. Without keys nothing is encrypted, and
 *   encrypted payloads are refused with an error that names their key.
 * @param rules whether unencrypted payloads are refused (PAYLOADS_REQUIRED), and how refusals are reported
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
