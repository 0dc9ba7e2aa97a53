import type { Answer } from './client.ts';
import type { OrderEvidence } from './evidence.ts';
import { checkoutAction } from './oracle.ts';
import { policyOf } from './policies.ts';
import type { Finding } from './verdict.ts';

/** Refusals of a checkout that an order service must expect. */
const EXPECTED: Record<number, string[]> = {
  1: [],
  // Its first attempt isn't declined any more, or the time for another is over.
  2: ['retry-out-of-turn', 'order-closed'],
};

/** The same attempt is always answered the same, as the table says, and as the order's own record has it. */
export function answersOf(evidence: OrderEvidence): Finding[] {
  const { plan, diary, run } = evidence;
  const findings: Finding[] = diary.strange.map((facts) => ({ kind: 'strange answer', facts }));
  const policy = policyOf(plan.integration);
  for (const { attempt, slug } of diary.refusals) {
    if (!EXPECTED[attempt]?.includes(slug))
      findings.push({ kind: 'strange answer', facts: `attempt ${attempt}: ${slug}` });
  }
  for (const path of diary.givenUp)
    findings.push({ kind: 'never answered', facts: `${path} was never answered` });
  for (const number of new Set(diary.answers.map(({ attempt }) => attempt))) {
    const given = diary.answers.filter(
      (answer) =>
        answer.attempt === number && !wasRenewed(evidence, answer) && !becameTheDecision(evidence, answer),
    );
    const words = new Set(given.map(inShort));
    if (words.size > 1) findings.push({ kind: 'contradicting answers', facts: [...words].join(' / ') });
    const recorded = run.state?.attempts[number - 1]?.answer;
    if (run.state !== undefined && recorded === undefined) {
      findings.push({
        kind: 'contradicting answers',
        facts: `attempt ${number} was answered, and is not on record`,
      });
    }
    for (const answer of given) {
      if (recorded !== undefined && inShort(recorded) !== inShort(answer)) {
        findings.push({
          kind: 'contradicting answers',
          facts: `attempt ${number} was told ${inShort(answer)} (${answer.reason}), the record says ${inShort(recorded)}`,
        });
      }
      const meant = checkoutAction(policy, answer.decision, plan.amount);
      const said = policy.passive ? answer.wouldBe : answer.action;
      if (said !== meant) {
        findings.push({
          kind: 'wrong action',
          facts: `the checkout was told ${said} for ${answer.decision}, not ${meant}`,
        });
      }
    }
  }
  return findings;
}

/**
 * The same attempt asked again after a `pending` is told its first decision, as soon as there is one, with the action that the
 * order has by then; so is one that is still pending when the order was canceled, its gateway reported, or another attempt came.
 * A decline that was given stays one.
 */
function becameTheDecision({ run }: OrderEvidence, answer: Answer): boolean {
  const attempt = run.state?.attempts[answer.attempt - 1];
  const given = attempt?.answer;
  if (run.state === undefined || given?.decision !== 'pending' || given.action === 'decline') return false;
  const first = attempt?.readings.find(({ decision }) => decision !== 'pending' && decision !== 'skipped');
  if (answer.decision !== 'pending') return first?.decision === answer.decision;
  const changed =
    attempt?.gateway !== undefined ||
    attempt?.override !== undefined ||
    run.state.attempts.length > answer.attempt ||
    run.state.actions.some(({ kind }) => kind === 'cancel');
  return changed && answer.action !== given.action;
}

/**
 * An answer of the fast path whose record was lost. The record is made anew from what the service says by then: that may be
 * nothing yet, or something newer, but no decline, and no other transaction.
 */
export function wasRenewed({ run, ledger }: OrderEvidence, answer: Answer): boolean {
  const { eager, firstTaskLost, failedTasks } = run.history;
  const recorded = run.state?.attempts[0]?.answer;
  const lost = eager && (firstTaskLost || Object.keys(failedTasks).length > 0);
  if (!lost || answer.attempt !== 1 || recorded === undefined) return false;
  if (inShort(answer) === inShort(recorded)) return false;
  const said = ledger.find(({ operation, committed }) => operation === 'create-transaction' && committed);
  return (
    said?.outcome.decision === answer.decision &&
    answer.transactionId === said.transactionId &&
    answer.action !== 'decline' &&
    recorded.action !== 'decline'
  );
}

function inShort({ decision, action }: Pick<Answer, 'decision' | 'action'>): string {
  return `${decision} → ${action}`;
}
