/** Workflow interceptors: Temporal suggests to continue as new once a history is longer than this test's limit. */
import { changedInfo } from './changed-info.ts';

const LONG = 90;

export const interceptors = changedInfo(({ historyLength }) => ({
  continueAsNewSuggested: historyLength > LONG,
}));
