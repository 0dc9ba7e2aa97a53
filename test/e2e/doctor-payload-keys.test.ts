import { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { createDataConverter } from '../../src/codec/index.ts';
import { readPayloadKeys } from '../../src/config/index.ts';
import { TASK_QUEUE } from '../../src/contract/ids.ts';
import { SCREEN_ORDER } from '../../src/contract/messages.ts';
import { eventually, withTestServer } from '../support/index.ts';
import { aReadyNamespace, examine, type Finding, fault } from './doctor-support.ts';

const server = withTestServer();
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64');

it('doctor names the fault when PAYLOAD_KEYS cannot read what is stored: none, another, another of the same name', async () => {
  const namespace = await aReadyNamespace(server.connection);
  const look = async (keys: string | undefined): Promise<Finding[]> => {
    const env = { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace, PAYLOAD_KEYS: keys };
    const { findings, printed } = await examine(env);
    expect(printed).not.toContain(key(1));
    return findings.filter(({ check }) => check === 'payload-keys');
  };
  expect(await look(`k1:${key(1)}`)).toMatchObject([{ status: 'skipped', what: 'no order is stored yet' }]);

  const dataConverter = createDataConverter(readPayloadKeys(`k1:${key(1)}`, 'PAYLOAD_KEYS'));
  const client = new Client({ connection: server.connection, namespace, dataConverter });
  await client.workflow.start(SCREEN_ORDER, {
    workflowId: 'order:default:encrypted',
    taskQueue: TASK_QUEUE,
    args: [{ orderId: 'encrypted', transaction: {} }],
  });
  const lacks = [fault('payload-keys', /the key "k1", which .* lacks/, /every worker and every client/)];
  await eventually(async () => expect(await look(undefined)).toEqual(lacks));
  expect(await look(`k2:${key(1)}`)).toEqual(lacks);
  const another = [fault('payload-keys', /"k1" cannot be decrypted/, /with one key per id/)];
  expect(await look(`k1:${key(2)}`)).toEqual(another);
  expect(await look(`k2:${key(2)},k1:${key(1)}`)).toMatchObject([{ status: 'ok' }]);
});
