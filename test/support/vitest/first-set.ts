/** What `npm test` runs: each promise of the README at least once, within five minutes on two cores. The rest is `npm run test:long`. */

/** End-to-end tests of the first set. Each starts a deployment of its own. */
export const FIRST_E2E = [
  'test/e2e/orders/adopt.test.ts',
  'test/e2e/orders/after-end.test.ts',
  'test/e2e/orders/canary.test.ts',
  'test/e2e/orders/encryption.test.ts',
  'test/e2e/orders/events.test.ts',
  'test/e2e/orders/order-memo.test.ts',
  'test/e2e/orders/orders.test.ts',
  'test/e2e/orders/pre-gateway.test.ts',
  'test/e2e/start.test.ts',
];

/** Files of tests that need a Temporal server of their own, and are not in the first set. */
export const LONG_E2E = [
  'test/e2e/**/*.test.ts',
  'test/dev/server/**/*.test.ts',
  'test/**/main.test.ts',
  'test/attacks/floods.test.ts',
];

export const CHAOS = ['test/chaos/chaos.test.ts'];
export const MORE_LIVES = ['test/simulation/more-lives.test.ts'];
export const PRODUCTION = ['test/production/**/*.test.ts'];

const LONG = [...LONG_E2E, ...CHAOS, ...MORE_LIVES, ...PRODUCTION];

/** Returns whether `npm test` runs a file, a glob or a folder (`test/order/`) that a page names as a proof. */
export function isInFirstSet(path: string): boolean {
  if (FIRST_E2E.includes(path)) return true;
  return !LONG.some((glob) => glob.startsWith(path) || expressionOf(glob).test(path));
}

/** The two wildcards that the globs here have: any folders, and any part of a name. */
function expressionOf(glob: string): RegExp {
  const parts = glob.split('**/').map((part) => part.replaceAll('.', '\\.').replaceAll('*', '[^/]*'));
  return new RegExp(`^${parts.join('(?:.*/)?')}$`);
}
