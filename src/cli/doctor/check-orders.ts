import { PORTAL_ACTION, SCREEN_ORDER } from '../../orders/messages.ts';
import { RULES_READ } from '../../orders/rules-number.ts';
import { needsAttention, screeningRules } from '../../orders/search-attributes.ts';
import { counted, type Finding, finder } from './finding.ts';

/** Counts workflows by a visibility query. */
export type Count = (query: string) => Promise<number>;

/**
 * Looks at what is open: does this release know the rules that each order lives by, does a portal action wait for a key?
 * @param known the numbers of the rules that this release can live by
 */
export async function checkOrders(count: Count, known: readonly number[] = RULES_READ): Promise<Finding[]> {
  return Promise.all([checkRules(count, known), checkPortalActions(count)]);
}

async function checkRules(count: Count, known: readonly number[]): Promise<Finding> {
  const check = finder('rules');
  const { name } = screeningRules;
  // An order has no number before its first answer; not every database leaves it out of «is not».
  const unknown = [`${name} IS NOT NULL`, ...known.map((number) => `${name} != ${number}`)].join(' AND ');
  const open = (condition: string) => count(`${openOf(SCREEN_ORDER)} AND ${condition}`);
  const answers = await Promise.all([
    open(unknown),
    ...known.map((number) => open(`${name} = ${number}`)),
  ]).catch(() => undefined);
  if (answers === undefined) return check.skipped('the server does not count orders');
  const [strange = 0, ...each] = answers;
  const numbers = known.join(', ');
  if (strange > 0) {
    return check.fault(
      `${counted(strange, 'open order')} with rules that this release does not know (it knows ${numbers}): its workers leave them standing still`,
      `Make a release current that knows them; which they are is listed by the query ${unknown}`,
    );
  }
  const live = known.map(
    (number, index) => `${counted(each[index] ?? 0, 'open order')} with rules ${number}`,
  );
  return check.ok(`this release knows the rules of every order: ${live.join(', ')}`);
}

/** No order speaks for a portal action that runs by itself, so neither the queue page nor a list of orders shows it. */
async function checkPortalActions(count: Count): Promise<Finding> {
  const check = finder('portal-actions');
  const waiting = `${openOf(PORTAL_ACTION)} AND ${needsAttention.name} = true`;
  const number = await count(waiting).catch(() => undefined);
  if (number === undefined) return check.skipped('the server does not count portal actions');
  if (number === 0) return check.ok('no portal action on a closed order waits for the right key');
  return check.warning(
    `${counted(number, 'portal action')} on closed orders or bare transactions can't be sent: the service refused the key (403)`,
    `Set the right key and roll the workers: each goes on by itself, and ends a day after it was asked, a cancel with its window. They are listed by the query ${waiting}`,
  );
}

function openOf(workflowType: string): string {
  return `WorkflowType = '${workflowType}' AND ExecutionStatus = 'Running'`;
}
