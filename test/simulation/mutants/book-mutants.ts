/** Faults planted in the rules that only the books show: each takes away a promise that no step breaks. */
import { instant, millis } from '../../../src/contract/words.ts';
import { currentAttempt } from '../../../src/order/record.ts';
import { transactionOf } from '../../../src/order/transactions.ts';
import { RULES } from '../rules.ts';
import { after, begunAgain, inputs, type Mutant, resultIn, results, ruled } from './mutants.ts';

/** Each must be found by the judge of the books. */
export const BOOK_MUTANTS: readonly Mutant[] = [
  after('gateway result lost: a replaced gateway result counts as sent', ({ state, now }, input) => {
    if (resultIn(input)?.kind !== 'gateway') return;
    for (const { gateway } of state.attempts) if (gateway !== undefined) gateway.sent ??= now;
  }),
  after('gateway result lost: a gateway result that was contradicted counts as sent', ({ state, now }) => {
    for (const { gateway } of state.attempts) if (gateway?.contradictions !== undefined) gateway.sent ??= now;
  }),
  after('cancel given up: an override gives up a cancel that was sent', ({ state }, input) => {
    if (input.kind !== 'request' || input.request.kind !== 'override') return;
    for (const action of state.actions)
      if (action.kind === 'cancel' && action.status === 'running') action.status = 'unconfirmed';
  }),
  after('attention missing: a refused cancel raises no attention', ({ state }) => {
    state.attention = state.attention.filter(({ code }) => code !== 'cancel-refused');
  }),
  after('action wrong: a passive order acts after its checkout', ({ state }, input) => {
    if (resultIn(input)?.kind === 'read' && state.policy.passive)
      state.action = state.wouldBe ?? state.action;
  }),
  inputs('noted twice: an idempotency key is forgotten', (input) =>
    input.kind === 'request' && input.sent !== undefined
      ? { ...input, sent: { updateId: input.sent.updateId } }
      : input,
  ),
  inputs('the history does not replay: a hint while a read runs is dropped', (input, order) => {
    const hinted = input.kind === 'signal' && input.signal.kind === 'review-hint';
    return hinted && order.reads.length > 0 ? undefined : input;
  }),
  after('read owed: a hint while an order is screened is dropped', (order) => {
    if (order.state.phase === 'screening')
      order.reads = order.reads.filter(({ source }) => source !== 'webhook');
  }),
  after('read owed: a read that fails for good is not tried again', (order, input) => {
    if (input.kind === 'effect-ended' && input.outcome.status === 'failed') order.reads = [];
  }),
  ruled('read owed: continue-as-new drops a pending read', {
    resumed: (order) => ({ ...RULES.resumed(order), reads: [] }),
  }),
  after('too many reads: reads have no spacing', (order) => {
    delete order.spacing.until;
  }),
  inputs('phase wrong: the outcome of a canceled write is dropped', (input, order) => {
    if (input.kind !== 'effect-ended') return input;
    const canceled = order.running.some(({ id, canceled: asked }) => id === input.id && asked === true);
    return canceled ? { ...input, outcome: { status: 'canceled' } } : input;
  }),
  results('cancel missing: a review that comes back is ignored', (result, { state }) => {
    const isReading = result.kind === 'read' || result.kind === 'poll' || result.kind === 'last-read';
    if (state.decision !== 'pass' || !isReading) return result;
    const { outcome } = result;
    if (outcome?.kind !== 'read' || outcome.decision !== 'review') return result;
    return { ...result, outcome: { ...outcome, decision: 'pass' } };
  }),
  inputs('cancel unread: a review counts as read when policy cancels it', (input, { state }) => {
    const result = resultIn(input);
    if (result?.kind === 'timer' && state.decision === 'review')
      Object.assign(state.lastRead ?? {}, { at: result.at });
    return input;
  }),
  after('event wrong: an event names the first transaction of its attempt', ({ state, outbox }) => {
    for (const { data } of outbox) {
      const first = state.transactions.find(({ attempt }) => attempt === data.attempt)?.id;
      if (first !== undefined && data.transactionId !== undefined) data.transactionId = first;
    }
  }),
  inputs('read before: an older reading is applied after a newer one', (input, order) => {
    if (input.kind === 'effect-ended') delete order.readAt;
    return input;
  }),
  ruled('second create: continue-as-new drops an earlier reset', { keepsReset: () => false }),
  after('window too short: the window of a catch-up starts with the order', ({ state }, input) => {
    const transaction = state.transactions.at(-1);
    if (resultIn(input)?.kind !== 'catch-up' || transaction === undefined) return;
    transaction.cancelBy = instant(millis(state.startedAt) + state.policy.cancelWindowMs);
  }),
  after('done and denied: a failed portal action forgets that it may have been sent', ({ state }) => {
    for (const action of state.actions) delete action.maybeSent;
  }),
  ruled('chargeback twice: a chargeback whose outcome is unknown is sent again like a cancel', {
    step: (order, input) => {
      const fields = { ...order.fields };
      const made = RULES.step(order, input);
      const unknown = order.state.actions.filter(
        ({ kind, status, number }) =>
          kind === 'chargeback' && status === 'unconfirmed' && fields[number] !== undefined,
      );
      for (const action of unknown) {
        action.status = 'queued';
        order.fields[action.number] = fields[action.number] ?? { kind: 'cancel' };
      }
      return begunAgain(made, order);
    },
  }),
  ruled('event wrong: after the end an earlier attempt gets the order’s action', {
    readAfterEndInput: (...given) => {
      const input = RULES.readAfterEndInput(...given);
      for (const attempt of input.order.attempts) delete attempt.lastAction;
      return input;
    },
  }),
  ruled('event wrong: after the end an attempt’s earlier transaction keeps the action of the end', {
    applyLateReading: (ended, transaction, ...read) => {
      const applied = RULES.applyLateReading(ended, transaction, ...read);
      const { order } = ended;
      const attempt = currentAttempt(order);
      const isEarlier = transaction !== transactionOf(order, attempt);
      if (applied.event !== undefined && isEarlier && transaction.attempt === attempt.number)
        applied.event.data.action = order.action;
      return applied;
    },
  }),
  ruled('event wrong: after the end the events of each run are counted anew', {
    readAfterEndInput: (state) => RULES.readAfterEndInput(state),
  }),
  ruled('late decision untold: after the end only the newest transaction is read', {
    readAfterEndInput: (...given) => {
      const input = RULES.readAfterEndInput(...given);
      return { ...input, order: { ...input.order, transactions: input.order.transactions.slice(-1) } };
    },
  }),
  ruled('late decision untold: after the end a decision is told at most once', {
    applyLateReading: (order, ...given) =>
      order.decisions.length > 0 ? { raised: [] } : RULES.applyLateReading(order, ...given),
  }),
];
