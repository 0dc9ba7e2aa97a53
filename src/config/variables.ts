import type { z } from 'zod';
import type { FaultList } from './fault-list.ts';

/** Reads one variable. @returns undefined when it isn't set and has no fallback, or after its faults were added */
export type ReadVariable = <T>(name: string, schema: z.ZodType<T>, fallback?: string) => T | undefined;

/** @returns a reader of one variable; an empty one counts as not set */
export function variables(env: NodeJS.ProcessEnv, faults: FaultList): ReadVariable {
  return (name, schema, fallback) => {
    const written = isSet(env[name]) ? env[name] : fallback;
    return written === undefined ? undefined : faults.read(name, schema, written);
  };
}

/** Whether a variable holds anything. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
