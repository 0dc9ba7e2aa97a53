import { describe, expect, it } from 'vitest';
import { PayloadCodecError } from '../../../src/codec/index.ts';
import type { ChargebackRequest } from '../../../src/contract/messages.ts';
import { contentOf, PORTAL_ACTIONS } from '../../../src/contract/portal/portal-kinds.ts';
import { LATE_DECISIONS } from '../../../src/order/after-end.ts';
import { aClosedOrder, CLOSED_TRANSACTION } from '../../fixtures/orders.ts';
import { aPortalAnswer } from '../../server/api/fake-order-screening.ts';
import {
  aClient,
  aClientOf,
  aClosed,
  alreadyStarted,
  described,
  failed,
  faultsAt,
  noAnswer,
  refused,
  startedActions,
  taken,
} from '../fake-temporal.ts';
import { unreadAtStart } from '../unread-request.ts';

const order = { orderId: '#order-1' };
const KEY = { orderId: 'order-1', integration: 'default' };
const named = { transactionId: CLOSED_TRANSACTION };
/** A cancel on the record of its order. */
const recorded = {
  number: 2,
  kind: 'cancel',
  subject: `cancel:${CLOSED_TRANSACTION}`,
  ...named,
  by: 'caller',
  requestedAt: '2026-03-01T10:00:00.000Z',
} as const;
const chargeback = { reason_code: '10.4', due_date: '2026-04-01' };

describe('a portal action of an open order', () => {
  it('that goes on is requested, and not when no worker took it', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue(taken(noAnswer));
    const answer = { ...KEY, kind: 'cancel', status: 'requested' };
    expect(await orderScreening.cancel(order)).toEqual(answer);
    temporal.startUpdate.mockRejectedValue(noAnswer);
    await expect(orderScreening.cancel(order)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  it("that is refused is the order's own error, with the details that this release has", async () => {
    const { orderScreening, temporal } = aClient();
    const code = 'refused-by-screening-service';
    const details = { serviceCode: '403', serviceMessage: 'No.' };
    const ofAnother = { errors: 'in words', cancelBy: 7, more: true } as object;
    temporal.startUpdate.mockResolvedValue(taken(refused(code, { ...details, ...ofAnother })));
    const error: unknown = await orderScreening.cancel(order).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(Object(error).details).toEqual(details);
  });

  it('that could not be sent to the service is refused with the paths, and asked of nobody', async () => {
    const { orderScreening, temporal } = aClient();
    const nonsense = orderScreening.attachCustomerCode(order, { customerCode: '', email: 'canary' });
    await expect(nonsense).rejects.toMatchObject(faultsAt('customerCode', 'email'));
    const fields: object = { force: 'yes', dueDate: '2026-02-30', kind: 'cancel', notCards: [] };
    const wrong = orderScreening.submitChargeback(order, fields as typeof chargeback);
    await expect(wrong).rejects.toMatchObject(
      faultsAt('force', 'reason_code', 'dueDate', 'kind', 'notCards'),
    );
    expect(temporal.startUpdate).not.toHaveBeenCalled();
  });

  it('which is a chargeback in camel case is sent in the spelling of the interface', async () => {
    const { orderScreening, temporal } = aClient();
    temporal.startUpdate.mockResolvedValue(taken(noAnswer));
    const others = { notes: 'n', inquiry: 'true', force: true } as const;
    const given: object = {
      reasonCode: '4837',
      dueDate: '2026-04-01',
      carrierTrackingNumber: 'T1',
      ...others,
    };
    await orderScreening.submitChargeback(order, given as typeof chargeback);
    const read = { reason_code: '4837', due_date: '2026-04-01', carrier_tracking_number: 'T1', ...others };
    expect(temporal.startUpdate.mock.calls[0]?.[1]).toMatchObject({ args: [{ body: read }] });
  });

  it('of an unknown integration is refused as such', async () => {
    const elsewhere = aClient().orderScreening.cancel({ ...order, integration: 'x' });
    await expect(elsewhere).rejects.toMatchObject({ code: 'unknown-integration' });
  });
});

describe('a portal action of a closed order', () => {
  it('runs as a workflow of its own, from the record, for who asks', async () => {
    const record = aClosedOrder();
    const client = aClosed(record);
    const by = { key: 'ops', actor: 'ada' };
    expect(await client.orderScreening.cancel(order, { reason: 'x' }, { by })).toEqual(aPortalAnswer());
    expect(startedActions(client)).toMatchObject([
      {
        type: 'portalAction',
        workflowId: `portal:default:cancel:${CLOSED_TRANSACTION}`,
        taskQueue: 'order-screening',
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
        input: {
          integration: 'default',
          orderId: 'order-1',
          transactionId: CLOSED_TRANSACTION,
          fields: { kind: 'cancel', reason: 'x' },
          by,
          cancelBy: record.transactions[0]?.cancelBy,
          cancelWindowMs: 432_000_000,
        },
      },
    ]);
  });

  it('is known by its content, whatever its idempotency key', async () => {
    const started = async (idempotencyKey: string, more: Partial<ChargebackRequest> = {}) => {
      const client = aClosed();
      const how = { idempotencyKey, by: { key: 'shop' } };
      await client.orderScreening.submitChargeback(order, { ...chargeback, ...more }, how);
      const [action] = startedActions(client);
      expect(action?.input).not.toHaveProperty('key');
      return action?.workflowId;
    };
    const id = await started('a');
    expect(await started('b')).toBe(id);
    expect(await started('a', { transactionId: CLOSED_TRANSACTION.toUpperCase() })).toBe(id);
    expect(await started('a', { notes: 'goods received' })).not.toBe(id);
  });

  // What may be submitted is not sent again.
  it.each([
    ['that failed with an unknown outcome', refused('outcome-unknown'), 'outcome-unknown-before'],
    ['that failed by a person', failed(), 'outcome-unknown-before'],
    ['whose end could not be read', noAnswer, 'temporal-unavailable'],
    [
      'whose end these keys cannot decrypt',
      new PayloadCodecError('unknown-payload-key', 'k2'),
      'record-unreadable',
    ],
    ['that failed by a refusal', refused('refused-by-screening-service'), undefined],
    ['whose worker lacked the payload key', unreadAtStart(), undefined],
  ])('which is a chargeback, after a workflow %s', async (_how, error, code) => {
    const client = aClosed();
    client.temporal.start.mockRejectedValueOnce(alreadyStarted);
    client.temporal.result.mockReset().mockResolvedValueOnce(aClosedOrder());
    client.temporal.result.mockRejectedValueOnce(error).mockResolvedValue(aPortalAnswer());
    const submitted = client.orderScreening.submitChargeback(order, chargeback);
    if (code === undefined) expect(await submitted).toEqual(aPortalAnswer());
    else await expect(submitted).rejects.toMatchObject({ code });
    expect(startedActions(client)).toMatchObject([
      { workflowIdReusePolicy: 'REJECT_DUPLICATE' },
      ...(code === undefined ? [{ workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY' }] : []),
    ]);
  });

  it.each([
    [[], 'chargeback-not-allowed'],
    [['pass'], undefined],
    [['pass', 'fail'], 'chargeback-not-allowed'],
  ])(
    'which is a chargeback is judged by the last decision, also read after the end: %j',
    async (read, code) => {
      const client = aClosed(aClosedOrder({}, {}, { decision: 'review' }));
      const late = read.map((decision) => ({ decision, ...named, attempt: 1, action: 'hold', at: 'then' }));
      client.temporal.describe.mockResolvedValue(
        described('COMPLETED', { memo: { [LATE_DECISIONS]: late } }),
      );
      const submitted = client.orderScreening.submitChargeback(order, chargeback);
      if (code === undefined) await submitted;
      else await expect(submitted).rejects.toMatchObject({ code });
      expect(startedActions(client)).toHaveLength(code === undefined ? 1 : 0);
    },
  );

  it('which is a chargeback with force is sent again whatever is known', async () => {
    const client = aClosed();
    await client.orderScreening.submitChargeback(order, { ...chargeback, force: true });
    const workflowIdReusePolicy = 'ALLOW_DUPLICATE_FAILED_ONLY';
    expect(startedActions(client)).toMatchObject([{ workflowIdReusePolicy }]);
  });

  it('that goes on is requested, and has an unknown outcome when a person ends it in Temporal', async () => {
    const { orderScreening, temporal } = aClosed();
    const result = temporal.result.mockReset().mockResolvedValueOnce(aClosedOrder());
    result.mockRejectedValueOnce(noAnswer).mockResolvedValueOnce(aClosedOrder()).mockRejectedValue(failed());
    const answer = { status: 'requested', transactionId: CLOSED_TRANSACTION };
    expect(await orderScreening.reportFraud(order)).toMatchObject(answer);
    await expect(orderScreening.reportFraud(order)).rejects.toMatchObject({ code: 'outcome-unknown' });
  });

  it('whose worker lacks the payload key is to be sent again: nothing is wrong with it', async () => {
    const { orderScreening, temporal } = aClosed();
    temporal.result.mockReset().mockResolvedValueOnce(aClosedOrder()).mockRejectedValue(unreadAtStart());
    await expect(orderScreening.reportFraud(order)).rejects.toMatchObject({ code: 'temporal-unavailable' });
  });

  const over = '2026-03-06T10:00:00.000Z';
  it('is no cancel when the window is over', async () => {
    const client = aClosed(aClosedOrder({}, {}, { cancelBy: over }));
    const refused = { code: 'cancel-window-closed', details: { cancelBy: over } };
    await expect(client.orderScreening.cancel(order)).rejects.toMatchObject(refused);
    expect(startedActions(client)).toEqual([]);
  });

  it('that the order itself has done gives the same answer, also after the window', async () => {
    const done = { ...recorded, status: 'done', code: '200' } as const;
    const client = aClosed(aClosedOrder({}, { actions: [done] }, { cancelBy: over }));
    expect(await client.orderScreening.cancel(order)).toMatchObject({ status: 'done', code: '200' });
    expect(startedActions(client)).toEqual([]);
  });

  it('needs the e-mail for a customer code, which the record does not keep', async () => {
    const without = aClosed().orderScreening.attachCustomerCode(order, { customerCode: '1' });
    await expect(without).rejects.toMatchObject(faultsAt('email'));
    const client = aClosed();
    await client.orderScreening.attachCustomerCode(order, { customerCode: '1', email: 'a@example.com' });
    const workflowId = expect.stringMatching(/^portal:default:customer-code:order-1:[0-9a-f]{16}$/);
    expect(startedActions(client)).toMatchObject([{ workflowId }]);
  });
});

describe('a portal action of a transaction whose order is gone', () => {
  it.each<[string, Error | undefined, code: string]>([
    ['is unknown', undefined, 'unknown-order'],
    ['was terminated', failed(), 'order-closed'],
    ['was refused when it was started', failed('card-data-in-request'), 'order-closed'],
  ])('runs for the transaction alone when the order %s', async (_how, error, code) => {
    const client = error ? aClientOf(undefined, 'COMPLETED') : aClient();
    const { orderScreening, temporal } = client;
    if (error) temporal.result.mockRejectedValueOnce(error).mockRejectedValueOnce(error);
    await expect(orderScreening.reportFraud(order)).rejects.toMatchObject({ code });
    temporal.result.mockResolvedValue(aPortalAnswer());
    const inCapitals = { transactionId: CLOSED_TRANSACTION.toUpperCase() };
    await orderScreening.reportFraud(order, inCapitals);
    const [{ input, workflowId } = {}] = startedActions(client);
    const fields = { kind: 'report-fraud', ...inCapitals };
    expect(input).toEqual({ integration: 'default', ...inCapitals, fields });
    expect(workflowId).toBe(`portal:default:report-fraud:${CLOSED_TRANSACTION}`);
  });

  it('is no cancel, since nobody knows the window, and nothing in a passive integration', async () => {
    const cancel = aClient().orderScreening.cancel(order, named);
    await expect(cancel).rejects.toMatchObject({ code: 'cancel-window-unknown' });
    const report = aClient({ passive: true }).orderScreening.reportFraud(order, named);
    await expect(report).rejects.toMatchObject({ code: 'passive' });
  });
});

it('the fields that tell portal actions apart stay in the order that histories have', () => {
  expect(Object.fromEntries(PORTAL_ACTIONS.map((kind) => [kind, contentOf(kind).join(' ')]))).toEqual({
    cancel: '',
    'report-fraud': '',
    chargeback:
      'reason_code due_date notice_date reference_number carrier carrier_tracking_number notes inquiry',
    'customer-code': 'customerCode email',
  });
});
