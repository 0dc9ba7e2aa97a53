/** The workflows, for the worker's bundle. */
import './stacks.ts';

export { portalAction } from './portal-action.ts';
export { screenOrder } from './screen-order.ts';
export { sweepOrders } from './sweep-orders.ts';
