import type { Progress } from '../../src/process/parts.ts';

export const quiet: Progress = { say: () => undefined, tick: () => undefined };
