import type { Progress } from '../../src/dev/progress.ts';

export const quiet: Progress = { say: () => undefined, tick: () => undefined };
