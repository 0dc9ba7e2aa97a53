/** Workflow interceptors: every order takes itself for one that an operator reset. */
import { changedInfo } from './changed-info.ts';

export const interceptors = changedInfo(() => ({ originalExecutionRunId: 'the run before' }));
