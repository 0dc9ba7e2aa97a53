/** Lines of a process's log: read, and shown to a person. */
import { z } from 'zod';

export interface LogLine {
  /** Of the process. */
  process: string;
  /** When it was written, in milliseconds after the epoch. */
  at: number;
  /** As it was written. */
  text: string;
  /** What is said; empty where the line is not one of our log. */
  words: string;
  level: number;
  /** What it says beside its words. */
  fields: Record<string, unknown>;
}

const logged = z.looseObject({ level: z.number(), time: z.number(), msg: z.string() });
/** What each line has, and nobody reads. */
const OF_EACH_LINE = ['level', 'msg', 'time', 'pid', 'hostname', 'name'];
const LEVELS: Record<number, string> = { 20: 'debug', 30: 'info', 40: 'warn', 50: 'error' };

/** @param seenAt when it was read: of a line that isn't JSON, nobody knows more */
export function readLine(process: string, text: string, seenAt: number): LogLine {
  const { success, data } = logged.safeParse(parseJson(text));
  if (!success) return { process, at: seenAt, text, words: '', level: 0, fields: {} };
  const { level, time: at, msg: words } = data;
  const fields = Object.fromEntries(Object.entries(data).filter(([name]) => !OF_EACH_LINE.includes(name)));
  return { process, at, text, words, level, fields };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns the line as `npm run drill` shows it: the words first, without the frames of errors */
export function showLine({ process, at, text, words, level, fields }: LogLine): string {
  const time = new Date(at).toISOString().slice(11, 19);
  if (words === '') return `${time} ${process} ${text}`;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${written(value)}`);
  return [time, process, LEVELS[level] ?? String(level), words, ...shown].join(' ');
}

function written(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (name, inner: unknown) => (name === 'frames' ? undefined : inner));
}
