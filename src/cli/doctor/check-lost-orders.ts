/** Whether orders ended too early while they could still be canceled. */
import type { Client } from '@temporalio/client';
import { lostOrders, lostQuery } from '../../activities/index.ts';
import { within } from '../../client/temporal-errors.ts';
import { orderOfWorkflowId } from '../../contract/ids.ts';
import { LOST_STATUSES } from '../../contract/sweep.ts';
import { CHECK_WITHIN_MS, counted, type Finding, finder } from './check-service.ts';

const LOOKED_AT = 1_000;
const NAMED = 5;

/** Counts them by status, and names the first. */
export async function checkLostOrders(client: Client): Promise<Finding> {
  const check = finder('lost-orders');
  const now = Date.now();
  const lost = await within(client, now + CHECK_WITHIN_MS, () => lostOrders(client, LOOKED_AT, now)).catch(
    () => undefined,
  );
  if (lost === undefined) return check.skipped('the server does not list orders');
  if (lost.length === 0) return check.ok('no order ended too early inside its cancel window');
  const numbers = LOST_STATUSES.flatMap((status) => {
    const number = lost.filter((one) => one.status === status).length;
    return number === 0 ? [] : [`${number} ${status}`];
  });
  const names = lost
    .slice(0, NAMED)
    .map(({ workflowId }) => orderOfWorkflowId(workflowId)?.orderId ?? workflowId);
  return check.fault(
    `${counted(lost.length, 'order')} ended too early inside the cancel window (${numbers.join(', ')}), such as ${names.join(', ')}: nothing polls or cancels them`,
    `Recover each as docs/operations.md says under "Recover an order". The query ${lostQuery(now)} lists them`,
  );
}
