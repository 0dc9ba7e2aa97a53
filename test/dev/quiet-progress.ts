import type { Progress } from '../../src/dev/go-build.ts';

export const quiet: Progress = { say: () => undefined, tick: () => undefined };
