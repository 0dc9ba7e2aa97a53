import { expect, onTestFinished } from 'vitest';
import { createLog } from '../../src/platform/log.ts';

export const SECRET = 'to-be-kept-out';

/** A log of which no line may have the secret. */
export function aLog() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('test', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  onTestFinished(() => expect(JSON.stringify(lines)).not.toContain(SECRET));
  return { log, lines };
}
