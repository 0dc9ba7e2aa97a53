import { expect, it } from 'vitest';
import { aClient as aClientOf, CLOSED_TRANSACTION } from './fake-temporal.ts';

const hint = { orderId: 'order-1', transactionId: CLOSED_TRANSACTION, decision: 'pass', source: 'webhook' };
const other = '11111111-2222-4333-8444-555555555555';

/** The client library over a Temporal that answers an update when the test says so. */
function aClient() {
  const { orderScreening, temporal } = aClientOf();
  const answers: { accept: () => void; refuse: (error: Error) => void }[] = [];
  temporal.executeUpdate.mockImplementation(
    () =>
      new Promise((resolve, reject) => {
        answers.push({ accept: () => resolve({ accepted: true }), refuse: reject });
      }),
  );
  const sent = () =>
    temporal.executeUpdate.mock.calls.map((call) => {
      const [, { args }] = call as unknown as [unknown, { args: [{ receivedAt: string }] }];
      const { receivedAt: _receivedAt, ...rest } = args[0];
      return rest;
    });
  return { orderScreening, answers, sent };
}

it('hints that come while one of the order is under way go together, after it', async () => {
  const { orderScreening, answers, sent } = aClient();
  const accepted = Array.from({ length: 50 }, () => orderScreening.hint(hint));
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.accept();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.accept();
  for (const one of accepted) expect(await one).toEqual({ outcome: 'accepted' });
  const { orderId: _orderId, ...content } = hint;
  expect(sent()).toEqual([content, content]);
});

it('hints that name different things make one that names none of them', async () => {
  const { orderScreening, answers, sent } = aClient();
  const named = [hint, hint, { ...hint, transactionId: other, decision: 'fail' }, hint];
  const accepted = named.map((one) => orderScreening.hint(one));
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.accept();
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.accept();
  await Promise.all(accepted);
  expect(sent()[1]).toEqual({ source: 'webhook' });
});

it('a failure is told to those that waited for it, and the next hint is sent as ever', async () => {
  const { orderScreening, answers } = aClient();
  const [first, second] = [orderScreening.hint(hint), orderScreening.hint(hint)];
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.refuse(new Error('no such thing'));
  await expect(first).rejects.toThrow('no such thing');
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.accept();
  expect(await second).toEqual({ outcome: 'accepted' });
  const third = orderScreening.hint(hint);
  await expect.poll(() => answers.length).toBe(3);
  answers[2]?.accept();
  expect(await third).toEqual({ outcome: 'accepted' });
});

it('another order waits for nobody', async () => {
  const { orderScreening, answers } = aClient();
  const sending = [orderScreening.hint(hint), orderScreening.hint({ ...hint, orderId: 'order-2' })];
  await expect.poll(() => answers.length).toBe(2);
  for (const { accept } of answers) accept();
  for (const one of sending) expect(await one).toEqual({ outcome: 'accepted' });
});
