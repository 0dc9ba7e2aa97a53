/** The attackers' suite against a whole deployment: card numbers in disguises, planted wherever somebody can write. */
import { Client, Connection } from '@temporalio/client';
import fc from 'fast-check';
import { expect } from 'vitest';
import { readPayloadKeys } from '../../src/config/index.ts';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { createDataConverter } from '../../src/starter.ts';
import {
  disguised,
  disguisedInAscii,
  order,
  placesOf,
  planting,
  REFUSED,
} from '../attacks/card-disguises.ts';
import { aPreGatewayTransaction, withEmail } from '../fixtures/transactions.ts';
import type { Canary } from '../support/canaries.ts';
import { runCli } from './run-cli.ts';
import { anOrderId, type Deployment, WEBHOOK_SECRET } from './support.ts';

const TEXTS = 40;
const AT_A_TIME = 4;
/** A process of its own each. */
const BY_COMMAND_LINE = 3;

/**
 * Plants texts with card numbers in bodies, ids, reasons, webhooks, forms, starts and updates, and by the command line.
 * @param call asks the API with a key
 * @returns what must be found nowhere now
 */
export async function plantEverywhere(all: Deployment, call: Deployment['call']): Promise<Canary[]> {
  const { TEMPORAL_ADDRESS: address, PAYLOAD_KEYS = '' } = all.settings;
  const connection = await Connection.connect({ ...(address !== undefined && { address }) });
  const dataConverter = createDataConverter(readPayloadKeys(PAYLOAD_KEYS, 'PAYLOAD_KEYS'));
  const client = new Client({ connection, dataConverter });
  const orderId = anOrderId();
  const transaction = withEmail('review@example.com', aPreGatewayTransaction());
  expect((await call('POST', `/v1/orders/${orderId}/screening`, { transaction })).status).toBe(200);
  const texts = fc.sample(fc.oneof(disguised, disguisedInAscii), TEXTS);
  const places = placesOf(order);
  const plant = async (text: string, index: number) => {
    const id = encodeURIComponent(text);
    const planted = planting(order, places[index % places.length] ?? [], text);
    const refused = await Promise.all([
      call('POST', `/v1/orders/${anOrderId()}/screening`, { transaction: planted }),
      call('POST', `/v1/orders/${id}/screening`, { transaction: order }),
      call('POST', `/v1/orders/${orderId}/cancel`, { reason: text }),
      call('GET', `/v1/orders/${id}`),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([422, 422, 422, 422]);
    const hook = `${all.apiUrl}/v1/webhooks/default/${WEBHOOK_SECRET}`;
    const form = { method: 'POST', body: new URLSearchParams({ reason: text, [text]: 'x' }) };
    await Promise.all([
      fetch(`${hook}?invoiceNumber=${id}`),
      fetch(hook, { method: 'POST', body: JSON.stringify({ id: text, invoiceNumber: text, [text]: text }) }),
      fetch(`${all.apiUrl}/orders/${orderId}/cancel`, form),
    ]);
    const workflowId = `order:default:${anOrderId()}`;
    const input = { orderId: workflowId.slice('order:default:'.length), transaction: planted };
    const started = client.workflow.execute('screenOrder', {
      workflowId,
      taskQueue: TASK_QUEUE,
      args: [input],
    });
    await expect(started).rejects.toThrow();
    const update = client.workflow
      .getHandle(`order:default:${orderId}`)
      .executeUpdate('cancel', { args: [{ reason: text }] });
    await expect(update).rejects.toThrow();
  };
  for (let from = 0; from < TEXTS; from += AT_A_TIME) {
    const some = texts.slice(from, from + AT_A_TIME);
    await Promise.all(some.map((text, index) => plant(text, from + index)));
  }
  for (const text of texts.slice(0, BY_COMMAND_LINE)) {
    const { stdout, stderr } = await runCli(['cancel', orderId, '--reason', text], all.settings);
    expect(stderr).toContain(REFUSED);
    expect(`${stdout}${stderr}`).not.toContain(text);
  }
  await connection.close();
  return texts.flatMap((text) => {
    // Digits of other scripts are found as they are written.
    const digits = text.normalize('NFKC').replace(/\D/g, '').slice(0, 14);
    const number = digits.length === 14 ? [{ name: 'planted number', text: digits }] : [];
    return [{ name: 'planted text', text }, ...number];
  });
}
