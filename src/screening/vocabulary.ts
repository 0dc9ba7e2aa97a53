/** The words of the interface document that the rest of the project uses as types. */

/** What the service decided about a transaction (interface document, "States and transitions"). */
export const DECISIONS = ['pass', 'fail', 'review', 'fraudulent', 'error'] as const;
export type Decision = (typeof DECISIONS)[number];

/** When in a checkout the screening request is sent (interface document, "Integration workflows"). */
export const INTEGRATION_WORKFLOWS = ['pre-gateway', 'pre-acceptance', 'post-acceptance'] as const;
export type IntegrationWorkflow = (typeof INTEGRATION_WORKFLOWS)[number];

/** The mode of an API key: it fixes whether test or real card numbers are accepted ("Authentication", 3). */
export type Mode = 'test' | 'live';

/** Which of the two spellings and paths of create-transaction is written. Both are always read. */
export type Dialect = 'definition' | 'sample';

/** Something wrong in what was sent: where, and what to do about it. Never holds a value that was sent. */
export interface Fault {
  path: string;
  message: string;
}

/** Whether `word` is one of the service's five decisions. */
export function isDecision(word: unknown): word is Decision {
  return DECISIONS.some((decision) => decision === word);
}
