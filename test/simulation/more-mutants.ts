/** More planted faults: of readings, hints, adopted orders and orders that continue as new. */
import { instant, millis } from '../../src/contract/words.ts';
import { after, inputs, isSignal, type Mutant, resultIn, results, ruled } from './mutants.ts';
import { RULES } from './rules.ts';

export const MORE_MUTANTS: readonly Mutant[] = [
  after('a replaced gateway result counts as sent', ({ state, now }, input) => {
    if (resultIn(input)?.kind !== 'gateway') return;
    for (const { gateway } of state.attempts) if (gateway !== undefined) gateway.sent ??= now;
  }),
  inputs('a hint while a read runs is dropped', (input, order) =>
    isSignal(input, 'review-hint') && order.reads.length > 0 ? undefined : input,
  ),
  after('a hint while an order is screened is dropped', (order) => {
    if (order.state.phase === 'screening')
      order.reads = order.reads.filter(({ source }) => source !== 'webhook');
  }),
  inputs('hints are refused during review', (input, order) =>
    isSignal(input, 'review-hint') && order.state.phase === 'review' ? undefined : input,
  ),
  after('a read that fails for good is not tried again', (order, input) => {
    if (input.kind === 'effect-ended' && input.outcome.status === 'failed') order.reads = [];
  }),
  after('reads have no spacing', (order) => {
    delete order.spacing.until;
  }),
  inputs('an older reading is applied after a newer one', (input, order) => {
    if (input.kind === 'effect-ended') delete order.readAt;
    return input;
  }),
  results('a review that comes back is ignored', (result, { state }) => {
    if (state.decision !== 'pass' || (result.kind !== 'read' && result.kind !== 'poll')) return result;
    const { outcome } = result;
    if (outcome?.kind !== 'read' || outcome.decision !== 'review') return result;
    return { ...result, outcome: { ...outcome, decision: 'pass' } };
  }),
  after('an event names the first transaction of its attempt', ({ state, outbox }) => {
    for (const { data } of outbox) {
      const first = state.transactions.find(({ attempt }) => attempt === data.attempt)?.id;
      if (first !== undefined && data.transactionId !== undefined) data.transactionId = first;
    }
  }),
  after('the window of a catch-up starts with the order', ({ state }, input) => {
    const transaction = state.transactions.at(-1);
    if (resultIn(input)?.kind === 'catch-up' && transaction !== undefined)
      transaction.cancelBy = instant(millis(state.startedAt) + state.policy.cancelWindowMs);
  }),
  inputs('the outcome of a canceled write is dropped', (input, order) => {
    if (input.kind !== 'effect-ended') return input;
    const canceled = order.running.some(({ id, canceled: asked }) => id === input.id && asked === true);
    return canceled ? { ...input, outcome: { status: 'canceled' } } : input;
  }),
  after('a failed portal action forgets that it may have been sent', ({ state }) => {
    for (const action of state.actions) delete action.maybeSent;
  }),
  ruled('a chargeback whose outcome is unknown is sent again like a cancel', {
    step: (order, input) => {
      const fields = { ...order.fields };
      const made = RULES.step(order, input);
      for (const action of order.state.actions) {
        const { number, kind, status } = action;
        if (kind !== 'chargeback' || status !== 'unconfirmed' || fields[number] === undefined) continue;
        action.status = 'queued';
        order.fields[number] = fields[number];
      }
      return [...made, ...RULES.begin(order)];
    },
  }),
  ruled('an order that is adopted is screened all the same', {
    newOrder: ({ adopt: _without, ...input }, ...when) => RULES.newOrder(input, ...when),
  }),
  after('what had failed when it was adopted is canceled', ({ state }) => {
    if (state.adopted !== undefined && state.decision === 'fail') state.action = 'cancel';
  }),
  after('a review that was due when it was adopted is canceled', ({ state }) => {
    const due =
      state.adopted !== undefined && state.attention.some(({ code }) => code === 'review-unresolved');
    if (due && state.decision === 'review' && state.actions.length === 0) {
      state.action = 'cancel';
      state.decision = 'fail';
    }
  }),
  ruled('continue-as-new forgets events', { resumed: (order) => ({ ...RULES.resumed(order), outbox: [] }) }),
  ruled('continue-as-new drops a pending read', {
    resumed: (order) => ({ ...RULES.resumed(order), reads: [] }),
  }),
  ruled('continue-as-new drops an earlier reset', { keepsReset: () => false }),
  ruled('an order continues as new although a write is under way', { mayContinueAsNew: () => true }),
];
