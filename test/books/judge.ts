/** Judges one order's life by its books alone. */

import type { Books, Finding } from './books.ts';
import { announced } from './rules/announced.ts';
import { answers } from './rules/answers.ts';
import { attention } from './rules/attention.ts';
import { calls } from './rules/calls.ts';
import { cancels } from './rules/cancels.ts';
import { creates } from './rules/creates.ts';
import { ends } from './rules/ends.ts';
import { events } from './rules/events.ts';
import { gatewayResults } from './rules/gateway-results.ts';
import { outcome } from './rules/outcome.ts';
import { lateDecisions, owedReads } from './rules/owed-reads.ts';
import { unreadCancels } from './rules/unread-cancels.ts';
import { windows } from './rules/windows.ts';

const QUESTIONS = [
  answers,
  creates,
  cancels,
  unreadCancels,
  windows,
  attention,
  ends,
  calls,
  events,
  announced,
  gatewayResults,
  outcome,
  owedReads,
  lateDecisions,
];

/** @returns everything that the books show to be wrong */
export function judgeBooks(books: Books): Finding[] {
  return QUESTIONS.flatMap((question) => question(books));
}
