/** Judges one order's life by its books alone. */
import { answers } from './answers.ts';
import type { Books, Finding } from './books.ts';
import { creates } from './creates.ts';
import { ends } from './ends.ts';
import { windows } from './windows.ts';

const QUESTIONS = { answers, creates, windows, ends } satisfies Record<string, (books: Books) => Finding[]>;

/** @returns everything that the books show to be wrong */
export function judgeBooks(books: Books): Finding[] {
  return Object.values(QUESTIONS).flatMap((question) => question(books));
}
