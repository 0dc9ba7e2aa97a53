import { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import { within } from '../../client/within.ts';
import { createPayloadCodec, PayloadCodecError } from '../../codec/index.ts';
import type { Config } from '../../config.ts';
import { SCREEN_ORDER } from '../../orders/messages.ts';
import { connectTemporal, type KeySettings, payloadKeysOf } from '../with-orders.ts';
import { ANSWER_WITHIN_MS, type Finding, finder } from './finding.ts';

/** The newest orders, and of each what was written first and last: by who started it, and by its worker. */
const ORDERS = 5;
const EVENTS = 10;

/** Reads what is stored of the newest orders, and sees whether the keys here open it. */
export async function checkPayloadKeys(settings: Pick<Config, KeySettings>): Promise<Finding[]> {
  const check = finder('payload-keys');
  const stored = await newestPayloads(settings).catch(() => undefined);
  if (stored === undefined) return [check.skipped('the server does not show what is stored of the orders')];
  if (stored.length === 0) return [check.skipped('no order is stored yet')];
  const { decode } = createPayloadCodec(await payloadKeysOf(settings));
  const faults = new Set<string>();
  for (const payload of stored) {
    await decode([payload]).catch((error: unknown) => {
      if (!(error instanceof PayloadCodecError)) throw error;
      faults.add(error.message);
    });
  }
  if (faults.size === 0) return [check.ok('what is stored of the newest orders can be read')];
  return [...faults].map((words) =>
    check.fault(
      `${words}: with these settings such an order cannot be read, nor go on`,
      'Set the same PAYLOAD_KEYS for the API, every worker and every client; one id must name one key',
    ),
  );
}

async function newestPayloads({ temporal }: Pick<Config, 'temporal'>): Promise<Payload[]> {
  const { namespace } = temporal;
  const client = new Client({ connection: await connectTemporal(temporal), namespace });
  const { workflowService } = client;
  return within(client, Date.now() + ANSWER_WITHIN_MS, async () => {
    const { executions } = await workflowService.listWorkflowExecutions({
      namespace,
      query: `WorkflowType = '${SCREEN_ORDER}'`,
      pageSize: ORDERS,
    });
    const pages = await Promise.all(
      executions.flatMap(({ execution }) => {
        const asked = { namespace, ...(execution && { execution }), maximumPageSize: EVENTS };
        return [
          workflowService.getWorkflowExecutionHistory(asked),
          workflowService.getWorkflowExecutionHistoryReverse(asked),
        ];
      }),
    );
    return pages.flatMap(({ history }) => payloadsIn(history?.events));
  });
}

/** @returns the payloads anywhere in a message of Temporal's API */
function payloadsIn(message: unknown): Payload[] {
  if (typeof message !== 'object' || message === null || message instanceof Uint8Array) return [];
  return isPayload(message) ? [message] : Object.values(message).flatMap(payloadsIn);
}

function isPayload(message: object): message is Payload {
  const metadata: unknown = 'metadata' in message ? message.metadata : undefined;
  return typeof metadata === 'object' && metadata !== null && 'encoding' in metadata;
}
