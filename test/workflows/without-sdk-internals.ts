/** The workflow as it would be without src/workflows/sdk-internals.ts. */
export { screenOrder } from '../../src/workflows/screen-order.ts';
