/** Gives an order in review a history that no worker can go through: its poll ends with what was encrypted by a key that nobody has. */
import type { TestServer } from '../support/index.ts';
import { eventually } from '../support/index.ts';

export async function poison(
  { client, namespace }: Pick<TestServer, 'client' | 'namespace'>,
  workflowId: string,
): Promise<void> {
  const activityId = await eventually(async () => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    const poll = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'pollStatus');
    if (!poll?.activityId) throw new Error('the poll has not begun');
    return poll.activityId;
  });
  await client.workflowService.respondActivityTaskCompletedById({
    namespace,
    workflowId,
    activityId,
    result: {
      payloads: [
        {
          metadata: {
            encoding: Buffer.from('binary/encrypted'),
            'encryption-key-id': Buffer.from('nobody-has-it'),
          },
          data: Buffer.alloc(60),
        },
      ],
    },
  });
}
