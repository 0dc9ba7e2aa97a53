import type { FastifyBaseLogger } from 'fastify';
import type { Log } from '../log.ts';

/**
 * The log that Fastify writes to. Its own lines may quote addresses and the messages of errors, so that they pass as a
 * library's. Ours go to the log itself, never to `request.log`.
 */
export function frameworkLog(log: Log): FastifyBaseLogger {
  const line =
    (severity: 'debug' | 'info' | 'warn' | 'error') =>
    (first: unknown, words?: unknown): void => {
      const err = errorIn(first);
      // With an error the words are its message, mostly.
      if (err !== undefined) log.foreign(severity, { err }, '');
      else log.foreign(severity, {}, String(typeof first === 'string' ? first : words));
    };
  const logger: FastifyBaseLogger = {
    level: 'info',
    trace: line('debug'),
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('error'),
    silent: () => undefined,
    child: () => logger,
  };
  return logger;
}

function errorIn(first: unknown): unknown {
  if (first instanceof Error) return first;
  return typeof first === 'object' && first !== null && 'err' in first ? first.err : undefined;
}
