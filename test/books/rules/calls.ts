/** Were there more calls to the screening service than the rules allow? */
import { attemptAsked, portalAsked } from '../asked.ts';
import {
  actionOf,
  type BookedRequest,
  type Books,
  type Finding,
  finding,
  iso,
  PORTAL_OPERATIONS,
} from '../books.ts';
import { takenBack, wasLate, wasReset } from '../facts.ts';

const SHORT_MS = 2_000;
/** The look after an answer, one for a hint, one for a deadline, and the try again of one that failed. */
const READS_IN_SHORT = 4;
/** A next run begins the read for a hint and the one for a deadline again. */
const READS_OF_A_RUN = 2;

export function calls(books: Books): Finding[] {
  return [...chargebacks(books), ...repeats(books), ...reads(books), ...denied(books)];
}

/** What the order did is not on its record as refused or never sent. After its end an action that was refused may be done. */
function denied(books: Books): Finding[] {
  const { record, requests } = books;
  return record.actions.flatMap(({ number, kind, transactionId, status }, index, all) => {
    if (status !== 'refused' && status !== 'not-sent') return [];
    const alike = all.some((one, at) => at !== index && one.kind === kind);
    const done = requests.find(
      (one) =>
        one.operation === PORTAL_OPERATIONS[kind] &&
        one.committed &&
        !one.apart &&
        !takenBack(books, one.sentAt) &&
        (kind === 'customer-code' || one.transactionId === transactionId),
    );
    if (alike || done === undefined) return [];
    return finding('done and denied', `${number} ${kind} is ${status}, done ${iso(done.sentAt)}`);
  });
}

/** Nothing was done for certain. */
function isCertainlyNothing({ heard, committed }: BookedRequest): boolean {
  return heard === 'not-done' || heard === 'forbidden' || (heard === 'refused' && !committed);
}

/** A chargeback that may have been sent is sent again only with force. */
function chargebacks({ requests, calls: asked }: Books): Finding[] {
  const forced = asked.some((one) => {
    const fields = portalAsked(one);
    return fields?.kind === 'chargeback' && fields.force;
  });
  if (forced) return [];
  const sent = requests.filter((one) => one.operation === 'submit-chargeback');
  const seen = new Set<string>();
  return sent.flatMap((one) => {
    const key = actionOf(one);
    const again = seen.has(key);
    if (!isCertainlyNothing(one)) seen.add(key);
    return again ? finding('chargeback twice', `${key} at ${iso(one.sentAt)}`) : [];
  });
}

/** What was answered for certain is sent again only when somebody asks again. */
function repeats(books: Books): Finding[] {
  if (wasReset(books) || books.world.losses) return [];
  const settled = new Map<string, { since: number; times: number }>();
  return books.requests.flatMap((one) => {
    if (one.sent === undefined || one.operation === 'submit-chargeback') return [];
    const key = actionOf(one);
    const { since = Number.POSITIVE_INFINITY, times = 0 } = settled.get(key) ?? {};
    if (one.heard === 'done' || one.heard === 'refused')
      settled.set(key, { since: one.endedAt, times: times + 1 });
    if (one.sentAt < since || takenBack(books, one.sentAt)) return [];
    if (one.operation === 'customer-code' && times < attemptsWithCode(books, one.sentAt)) return [];
    // After the order's end each report of the gateway's result is sent on, and none is recorded.
    const afterEnd = one.sentAt >= (books.record.endedAt ?? books.closedAt);
    const mayAsk =
      one.operation !== 'gateway-response' ? ['portal', 'override'] : afterEnd ? ['gateway-result'] : [];
    const askedAgain = books.calls.some(
      ({ kind, sentAt }) => mayAsk.includes(kind) && sentAt <= one.sentAt && sentAt >= since - 30_000,
    );
    if (askedAgain) return [];
    return finding('sent again', `${key} at ${iso(one.sentAt)}, settled at ${iso(since)}`);
  });
}

/** @returns for how many attempts a customer code without an e-mail was asked for by then: each may have an e-mail of its own */
function attemptsWithCode(books: Books, by: number): number {
  const taken = books.calls.filter(({ refusal }) => refusal === undefined);
  const begun = books.attempts.flatMap(
    ({ number }) => taken.find((one) => attemptAsked(one) === number)?.sentAt ?? [],
  );
  const asked = books.calls.flatMap((one) => {
    const fields = portalAsked(one);
    const isOne = fields?.kind === 'customer-code' && !fields.email && one.sentAt <= by;
    // The order took it at any time until it was answered.
    return isOne ? [one.sentAt, one.at] : [];
  });
  return new Set(asked.map((at) => begun.filter((from) => from <= at).length)).size;
}

/** Reads come in no flood: hints are spaced, and polls have their pauses. */
function reads(books: Books): Finding[] {
  const { requests, news, policy, world } = books;
  if (wasLate(books)) return [];
  // A reset brings the signals since its task to the order again.
  const rechecks = news
    .filter(({ what }) => what === 'recheck')
    .flatMap(({ at }) => [
      at,
      ...world.resets.filter((one) => at > one.to && at <= one.at).map((one) => one.at),
    ]);
  const begun = [...world.continuedAt, ...world.resets.map(({ at }) => at)];
  const sent = requests.filter((one) => one.operation === 'status');
  const polls = Math.ceil(SHORT_MS / policy.poll.firstMs);
  for (const [index, { sentAt, transactionId }] of sent.entries()) {
    // After the order's end each of its transactions is read.
    const alike = sent.slice(index).filter((one) => one.transactionId === transactionId);
    const within = alike.filter((one) => one.sentAt < sentAt + SHORT_MS).length;
    const asked = rechecks.filter((at) => at > sentAt - 60_000 && at < sentAt + SHORT_MS);
    const runs = begun.filter((at) => at > sentAt && at < sentAt + SHORT_MS);
    if (within > READS_IN_SHORT + polls + asked.length + READS_OF_A_RUN * runs.length) {
      return finding('too many reads', `${within} within 2 s from ${iso(sentAt)}`);
    }
  }
  return [];
}
