/** How errors in settings are collected, so that one start lists all of them. No message holds a value that was given. */
import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { FieldError } from '../contract/errors.ts';
import { errorCode } from './values.ts';

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly fieldErrors: readonly FieldError[];

  constructor(errors: readonly FieldError[]) {
    const lines = errors.map(({ path, message }) => `  ${path}: ${message}`);
    const count = errors.length === 1 ? '1 error' : `${errors.length} errors`;
    super(`The configuration has ${count}:\n${lines.join('\n')}`);
    this.fieldErrors = errors;
  }
}

/** Runs `read` with a list for the errors it finds. @throws ConfigError with all of them */
export function orThrow<T>(read: (errors: ErrorList) => T): T {
  const errors = new ErrorList();
  const settings = read(errors);
  if (errors.all.length > 0) throw new ConfigError(errors.all);
  return settings;
}

/** The errors found so far, each with its variable or its path in a file. */
export class ErrorList {
  readonly all: FieldError[] = [];

  add(path: string, message: string): void {
    this.all.push({ path, message });
  }

  /** Adds that a value is missing, unless it has an error already. */
  addMissing(path: string, message: string): void {
    if (!this.all.some((error) => error.path === path)) this.add(path, message);
  }

  /** Parses a value. @returns undefined after adding its errors, each with its path below `path` */
  read<T>(path: string, schema: z.ZodType<T>, raw: unknown): T | undefined {
    const { data, error } = schema.safeParse(raw, { reportInput: true });
    for (const issue of error?.issues ?? []) this.#addIssue(path, issue);
    return data;
  }

  #addIssue(path: string, issue: z.core.$ZodIssue): void {
    const place = pathTo(path, issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        this.add(pathTo(place, [key]), 'is not a known key; check its spelling or remove it');
      }
    } else if (issue.code === 'invalid_union') {
      // The intended kind of value is the one with errors inside it.
      const meant = issue.errors.find((issues) => issues.some((inner) => inner.path.length > 0));
      if (meant === undefined) this.add(place, issue.message);
      else for (const inner of meant) this.#addIssue(place, inner);
    } else {
      this.add(place, issue.input === undefined ? 'is required' : issue.message);
    }
  }
}

function pathTo(path: string, rest: readonly PropertyKey[]): string {
  return rest.reduce<string>((parent, step) => {
    if (typeof step === 'number') return `${parent}[${step}]`;
    return parent === '' ? String(step) : `${parent}.${String(step)}`;
  }, path);
}

/**
 * Reads a JSON file. No error quotes the file, which may hold secrets.
 * @param variable the variable that names the file
 * @returns undefined after adding an error
 */
export function readJsonFile(variable: string, file: string, errors: ErrorList): unknown {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (error) {
    errors.add(variable, `names a file that can't be read (${String(errorCode(error) ?? 'unknown reason')})`);
    return undefined;
  }
  try {
    return JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch {
    // The message of the parser quotes the file.
    errors.add(variable, 'names a file that is not JSON');
    return undefined;
  }
}
