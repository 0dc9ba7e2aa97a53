import { createServer } from 'node:http2';
import { Client, Connection, ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendUpdate } from '../../src/client/order-messages.ts';
import { isUnanswered, within } from '../../src/client/temporal-errors.ts';
import { acknowledgeUpdate } from '../../src/contract/messages.ts';
import { aCheckoutAnswer, aPortalAnswer } from '../api/fake-order-screening.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../fixtures/orders.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { aClient, described, refused, startedActions } from './fake-temporal.ts';

type Temporal = ReturnType<typeof aClient>['temporal'];
type Screening = ReturnType<typeof aClient>['orderScreening'];

const order = { orderId: 'order-1' };
const attempt = { ...order, transaction: aTransaction() };
const keyed = { idempotencyKey: 'k' };
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const exhausted = new ServiceError('Workflow Update failed', {
  cause: Object.assign(new Error('limit on number of concurrent in-flight updates'), {
    code: RESOURCE_EXHAUSTED,
    details: '',
    metadata: {},
  }),
});
const unfingered = aCheckoutAnswer({ fingerprint: undefined as never });

/** The order took the update, and ended in the same task. */
const cutOff = new WorkflowUpdateFailedError(
  'Workflow Update failed',
  ApplicationFailure.create({ type: 'AcceptedUpdateCompletedWorkflow', message: 'x' }),
);

/** Each update: how it is asked, by which call of Temporal's client, its id and that of the second time, and an answer. */
const UPDATES: {
  what: string;
  ask: (orders: Screening) => Promise<unknown>;
  call: 'executeUpdateWithStart' | 'startUpdate' | 'executeUpdate';
  id: string | undefined;
  answer: object;
}[] = [
  {
    what: 'a first attempt',
    ask: (orders) => orders.screen(attempt),
    call: 'executeUpdateWithStart',
    id: 'decision-1',
    answer: unfingered,
  },
  {
    what: 'a later attempt',
    ask: (orders) => orders.retry({ ...attempt, attempt: 2 }),
    call: 'startUpdate',
    id: 'retry-2',
    answer: unfingered,
  },
  {
    what: 'a gateway result',
    ask: (orders) => orders.recordGatewayResult(order, { attempt: 1, result: 'pass' }),
    call: 'executeUpdate',
    id: undefined,
    answer: { result: 'pass' },
  },
  {
    what: 'a portal action with a key',
    ask: (orders) => orders.cancel(order, {}, keyed),
    call: 'startUpdate',
    id: 'cancel:k',
    answer: aPortalAnswer(),
  },
  {
    what: 'a portal action without a key',
    ask: (orders) => orders.reportFraud(order),
    call: 'startUpdate',
    id: undefined,
    answer: aPortalAnswer(),
  },
  {
    what: 'an acknowledgement',
    ask: (orders) => orders.acknowledge(order, { reason: 'x' }, keyed),
    call: 'executeUpdate',
    id: 'acknowledge:k',
    answer: { cleared: 1 },
  },
  {
    what: 'a withdrawal',
    ask: (orders) => orders.withdraw(order, { number: 1 }, keyed),
    call: 'startUpdate',
    id: 'withdraw:k',
    answer: aPortalAnswer({ status: 'withdrawn' }),
  },
];

/** Has one call of the client end in errors, each after it was accepted, and then in an answer. */
function ending(temporal: Temporal, call: (typeof UPDATES)[number]['call'], ends: unknown[]): void {
  const left = [...ends];
  temporal[call].mockImplementation(async () => {
    const end = left.length > 1 ? left.shift() : left[0];
    const result = async () => {
      if (end instanceof Error) throw end;
      return end;
    };
    return call === 'startUpdate' ? { result } : result();
  });
}

function sentIds(temporal: Temporal, call: (typeof UPDATES)[number]['call']): (string | undefined)[] {
  const calls = temporal[call].mock.calls as unknown as [unknown, { updateId?: string }][];
  return calls.map(([, { updateId }]) => updateId);
}

describe('an update that comes while the order is being screened', () => {
  it.each(UPDATES)('is sent again under the same id: $what', async ({ ask, call, id, answer }) => {
    const { orderScreening, temporal } = aClient();
    ending(temporal, call, [refused('checkout-under-way'), answer]);
    expect(await ask(orderScreening)).toEqual(answer);
    expect(sentIds(temporal, call)).toEqual([id, id]);
  });
});

describe('an update that the server takes no more of', () => {
  it.each(UPDATES)('is busy, and not asked again here: $what', async ({ ask, call }) => {
    const { orderScreening, temporal } = aClient();
    temporal[call].mockRejectedValue(exhausted);
    await expect(ask(orderScreening)).rejects.toMatchObject({ code: 'busy' });
    expect(temporal[call]).toHaveBeenCalledTimes(1);
  });

  it('is left as a signal when it is a hint', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.executeUpdate.mockRejectedValue(exhausted);
    temporal.signal.mockResolvedValue(undefined);
    expect(await orderScreening.hint({ ...order, source: 'webhook' })).toEqual({ outcome: 'accepted' });
    expect(temporal.signal).toHaveBeenCalledOnce();
  });

  it('does not keep the caller beyond the deadline, though the SDK tries again by itself', async () => {
    let asked = 0;
    const server = createServer();
    server.on('stream', (stream, { ':path': path }) => {
      const update = path?.endsWith('UpdateWorkflowExecution') ?? false;
      if (update) asked += 1;
      const status = update ? RESOURCE_EXHAUSTED : UNIMPLEMENTED;
      const head = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': `${status}` };
      stream.respond(head, { endStream: true });
    });
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const connection = await Connection.connect({ address: `127.0.0.1:${port}`, tls: false });
    let trying: Promise<unknown> | undefined;
    onTestFinished(async () => {
      // A connection that is closed before the SDK's next try breaks the process.
      await trying?.catch(() => undefined);
      await connection.close();
      server.close();
    });
    const client = new Client({ connection });
    const begun = Date.now();
    const call = within(client, begun + 1_000, () => {
      const sent = sendUpdate('acknowledge:k', (name) =>
        client.workflow
          .getHandle('order:default:order-1')
          .executeUpdate(acknowledgeUpdate, { args: [{ reason: 'x' }], ...name }),
      );
      trying = sent;
      return sent;
    });
    await expect(call).rejects.toSatisfy(isUnanswered);
    expect(Date.now() - begun).toBeLessThan(4_000);
    expect(asked).toBe(1);
  });
});

describe('an update that the end of the order cut off', () => {
  /** A client of an order that ended in the task in which it took the update. */
  function ended(call: (typeof UPDATES)[number]['call'], record = aClosedOrder()) {
    const client = aClient();
    ending(client.temporal, call, [cutOff]);
    client.temporal.describe.mockResolvedValue(described('COMPLETED'));
    client.temporal.result.mockResolvedValueOnce(record).mockResolvedValue(aPortalAnswer());
    return client;
  }

  it.each([
    ['a first attempt', 'executeUpdateWithStart', 1],
    ['a later attempt', 'startUpdate', 2],
  ] as const)('is answered from the record: %s', async (_what, call, number) => {
    const { orderScreening, temporal } = ended(call);
    let fingerprint = '';
    temporal.result.mockReset().mockImplementation(async () => {
      const [, options] = temporal[call].mock.calls[0] as unknown as [
        unknown,
        { args: [{ fingerprint: string }] },
      ];
      fingerprint = options.args[0].fingerprint;
      return aClosedOrder({ number, fingerprint, answer: aCheckoutAnswer({ attempt: number, fingerprint }) });
    });
    expect(await orderScreening.screen({ ...attempt, attempt: number })).toEqual(
      aCheckoutAnswer({ attempt: number, fingerprint }),
    );
  });

  it('is done the way of closed orders when it is a portal action', async () => {
    const client = ended('startUpdate');
    expect(await client.orderScreening.reportFraud(order)).toEqual(aPortalAnswer());
    expect(startedActions(client)).toMatchObject([
      { type: 'portalAction', input: { transactionId: CLOSED_TRANSACTION } },
    ]);
  });

  it('is order-closed when it is a gateway result, an acknowledgement or a withdrawal', async () => {
    for (const { ask, call } of UPDATES.filter(({ what }) =>
      /gateway|acknowledgement|withdrawal/.test(what),
    )) {
      await expect(ask(ended(call).orderScreening)).rejects.toMatchObject({ code: 'order-closed' });
    }
  });
});
