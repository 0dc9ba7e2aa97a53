/** Judges one order's life by its books alone. */
import { answers } from './answers.ts';
import { attention } from './attention.ts';
import type { Books, Finding } from './books.ts';
import { calls } from './calls.ts';
import { cancels } from './cancels.ts';
import { creates } from './creates.ts';
import { ends } from './ends.ts';
import { events } from './events.ts';
import { gatewayResults } from './gateway-results.ts';
import { outcome } from './outcome.ts';
import { owedReads } from './owed-reads.ts';
import { windows } from './windows.ts';

const QUESTIONS = [
  answers,
  creates,
  cancels,
  windows,
  attention,
  ends,
  calls,
  events,
  gatewayResults,
  outcome,
  owedReads,
];

/** @returns everything that the books show to be wrong */
export function judgeBooks(books: Books): Finding[] {
  return QUESTIONS.flatMap((question) => question(books));
}
