import type { OrderEvidence } from './evidence.ts';
import type { Arrival } from './receiver.ts';
import type { Finding } from './verdict.ts';

/** First arrivals count 1, 2, 3 …; repeats are the same; the last ones say what the order says. */
export function eventsOf({ plan, diary, run, arrivals }: OrderEvidence): Finding[] {
  const { state } = run;
  const findings: Finding[] = [];
  const found = (kind: Finding['kind'], facts: string): number => findings.push({ kind, facts });
  const own = arrivals.filter(({ sequence }) => sequence > 0);
  const firsts = new Map<number, Arrival>();
  const taken = new Set<number>([0]);
  for (const arrival of own) {
    const { sequence, id, body } = arrival;
    const first = firsts.get(sequence);
    if (first === undefined) {
      if (!taken.has(sequence - 1))
        found('event out of order', `${sequence} came before ${sequence - 1} was taken`);
      firsts.set(sequence, arrival);
    } else if (first.id !== id || first.body !== body) {
      found('event wrong', `${sequence} came again with another id or content`);
    }
    if (arrival.integration !== plan.integration)
      found('event wrong', `${sequence} names ${arrival.integration}`);
    if (arrival.taken) taken.add(sequence);
  }
  if (new Set(own.map(({ id }) => id)).size !== firsts.size)
    found('event wrong', 'two events share a webhook-id');
  if (state === undefined) return findings;
  for (let sequence = 1; sequence <= state.events.sequence; sequence += 1) {
    if (!taken.has(sequence)) found('event lost', `${sequence} of ${state.events.sequence} was never taken`);
  }
  for (const sequence of firsts.keys()) {
    if (sequence > state.events.sequence) found('event wrong', `${sequence} is not on the order's record`);
  }
  // Whoever makes another attempt knows what became of the one before, and each event tells where the order is.
  const last = state.attempts.length;
  const unheard = diary.unheard?.includes(last) === true && !own.some(({ data }) => data.attempt === last);
  const heard = diary.answers.filter(({ attempt }) => !(unheard && attempt === last));
  const answers = state.policy?.events === 'changes' ? heard : [];
  findings.push(...contentOf(run.status, state, [...firsts.values()], answers));
  return findings;
}

/** @param answers what counts as told beside the events: where only changes are sent, the answers at checkout */
function contentOf(
  status: string,
  state: NonNullable<OrderEvidence['run']['state']>,
  events: readonly Arrival[],
  answers: OrderEvidence['diary']['answers'],
): Finding[] {
  const findings: Finding[] = [];
  // What was asked while the order ended may still fail, and a person is told: only that may come after the end.
  const last = events.findLast(({ type }) => type !== 'order.attention') ?? events.at(-1);
  const answeredSo = answers.some(({ decision, action }) => decision === 'pass' && action === 'proceed');
  const plainPass = answeredSo && state.decision === 'pass' && state.action === 'proceed';
  if (status === 'COMPLETED' && !(plainPass && last === undefined)) {
    const { phase, decision, action } = last?.data ?? {};
    const said = `${last?.type} ${phase} ${decision} ${action}`;
    const is = `order.closed ${state.phase} ${state.decision} ${state.action}`;
    if (said !== is)
      findings.push({ kind: 'event wrong', facts: `the last one says ${said}, the order ${is}` });
  }
  for (const { number, answer } of state.attempts) {
    if (answer === undefined || answer.decision === 'pending' || answer.decision === 'error') continue;
    const told = events.some(
      ({ type, data }) =>
        type === 'order.decided' && data.attempt === number && data.decision === answer.decision,
    );
    const heard = answers.some((one) => one.attempt === number && one.decision === answer.decision);
    if (!told && !heard)
      findings.push({ kind: 'event lost', facts: `no order.decided of attempt ${number}` });
  }
  const current = state.attempts.at(-1);
  const quietly = current?.readings.at(-1)?.source === 'look-up' || state.decision === 'pending';
  if (!quietly && last !== undefined && status === 'RUNNING' && state.decision !== 'error') {
    const told = events.some(
      ({ data }) => data.attempt === current?.number && data.decision === state.decision,
    );
    if (!told) findings.push({ kind: 'event lost', facts: `no event told the decision ${state.decision}` });
  }
  if (state.phase === 'canceled' && !events.some(({ type }) => type === 'order.canceled')) {
    findings.push({ kind: 'event lost', facts: 'no order.canceled' });
  }
  return findings;
}
