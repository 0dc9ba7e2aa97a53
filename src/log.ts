/**
 * The log of every process. Serializers say what may be logged; addresses, headers and bodies never may: webhook secrets
 * stand in paths, keys in the addresses of status calls, personal data in bodies.
 */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { LogLevel } from './config.ts';

export type Log = Logger;

/** @param destination instead of standard output */
export function createLog(name: string, level: LogLevel, destination?: DestinationStream): Log {
  const options = {
    name,
    level,
    serializers: { err: showError, error: showError, req: showRequest, res: showReply },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

/** An error without its message, which may quote what it failed on: its kind, its code, the id of a key it lacked, and where it came from. */
export function showError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...('code' in error && { code: error.code }),
    ...('keyId' in error && { keyId: error.keyId }),
    frames: frames.slice(0, 10).map((line) => line.trim()),
    ...(error.cause instanceof Error && { cause: showError(error.cause) }),
  };
}

function showRequest(request: { method?: string; routeOptions?: { url?: string | undefined } }) {
  return { method: request.method, route: request.routeOptions?.url };
}

function showReply(reply: { statusCode?: number }) {
  return { status: reply.statusCode };
}
