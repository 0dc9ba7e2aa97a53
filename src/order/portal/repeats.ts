/** The records of one portal action that was requested repeatedly: which of them count. Pure. */
import type { ActionRecord } from '../../contract/order/state.ts';
import { portalKind } from '../../contract/portal/portal-kinds.ts';
import { isUnderWay, wasLeftUnsent } from '../transactions.ts';

/** Returns the records of an action, oldest first. One that ended unsent says nothing about those before it, so it is left out. */
export function sameActions(actions: readonly ActionRecord[], subject: string): ActionRecord[] {
  return actions.filter((one) => one.subject === subject && !wasLeftUnsent(one));
}

/** Returns whether an action may have been done: one of these records is unconfirmed, and no later one is done. */
export function isInDoubt(same: readonly ActionRecord[]): boolean {
  return (
    same.findLast(({ status }) => status === 'unconfirmed' || status === 'done')?.status === 'unconfirmed'
  );
}

/** Returns whether the outcome of a later record replaces this one's. Only `done` ends the doubt about an action that is sent once. */
export function isReplaced(actions: readonly ActionRecord[], record: ActionRecord): boolean {
  const { number, kind, subject, status } = record;
  const needsDone = status === 'unconfirmed' && portalKind(kind).once === true;
  return actions.some((one) => {
    if (one.number <= number || one.subject !== subject) return false;
    if (one.status === status) return true;
    return needsDone ? one.status === 'done' : !isUnderWay(one) && !wasLeftUnsent(one);
  });
}
