import type { Progress } from '../../src/dev/index.ts';

export const quiet: Progress = { say: () => undefined, tick: () => undefined };
