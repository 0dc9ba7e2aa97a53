/** Ids and queue names. All ids are built in this file. */
import type { PortalActionKind } from './portal/portal-kinds.ts';

/** Workflows and local activities. */
export const TASK_QUEUE = 'order-screening';
/** Portal actions, gateway responses, catch-up, events. */
export const BACKGROUND_TASK_QUEUE = 'order-screening-background';
/** Reads after webhooks and rechecks. A separate queue, so that they never wait behind polls. */
export const READS_TASK_QUEUE = 'order-screening-reads';
/** Review polls and last reads, rate limited so that they never delay checkouts or cancels. */
export const POLLS_TASK_QUEUE = 'order-screening-polls';

/** The integration of a request without one. */
export const DEFAULT_INTEGRATION = 'default';

/** Pattern of an integration's name. Workflow ids contain the name, so it has no colon. */
export const INTEGRATION_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;

/** Identifies an order. Its id is stored without a leading `#`. */
export interface OrderKey {
  integration: string;
  orderId: string;
}

/** @returns the workflow id of an order: `order:<integration>:<orderId>` */
export function orderWorkflowId(integration: string, orderId: string): string {
  return `order:${integration}:${orderId}`;
}

export function orderOfWorkflowId(workflowId: string): OrderKey | undefined {
  const [, integration, orderId] = /^order:([^:]+):(.+)$/s.exec(workflowId) ?? [];
  return integration === undefined || orderId === undefined ? undefined : { integration, orderId };
}

/** @returns the workflow id of a portal action that runs outside an order's workflow, one per action and subject */
export function portalActionWorkflowId(
  integration: string,
  action: PortalActionKind,
  subject: string,
): string {
  return `portal:${integration}:${action}:${subject}`;
}

/** @returns the workflow id of an event's redelivery. Only one runs per event */
export function redeliveryWorkflowId({ integration, orderId }: OrderKey, sequence: number): string {
  return `redelivery:${integration}:${orderId}:${sequence}`;
}

/** @returns the workflow id of the reads after an order's end. Only one runs per order */
export function afterEndWorkflowId({ integration, orderId }: OrderKey): string {
  return `after:${integration}:${orderId}`;
}

/** @returns the id of an attempt's `decision` update. A repeated call gets the same answer */
export function decisionUpdateId(attempt: number): string {
  return `decision-${attempt}`;
}

export function retryUpdateId(attempt: number): string {
  return `retry-${attempt}`;
}

/** Assumption «case of ids». @returns whether both ids name the same transaction. Case-insensitive; requests keep the screening service's spelling */
export function sameTransaction(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

/** @returns an order id or invoice number as it is stored and looked up: without a leading `#` */
export function withoutHash(name: string): string {
  return name.replace(/^#/, '');
}

/** Values of `temporal.api.enums.v1.TaskQueueType`. */
export const TASK_QUEUE_TYPE = { workflow: 1, activity: 2 } as const;

export const POLLED_QUEUES: readonly { name: string; type: keyof typeof TASK_QUEUE_TYPE }[] = [
  { name: TASK_QUEUE, type: 'workflow' },
  { name: TASK_QUEUE, type: 'activity' },
  { name: BACKGROUND_TASK_QUEUE, type: 'activity' },
  { name: READS_TASK_QUEUE, type: 'activity' },
  { name: POLLS_TASK_QUEUE, type: 'activity' },
];
