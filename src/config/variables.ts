import type { FaultList } from './fault-list.ts';
import type { Variable } from './known-variables.ts';

/** Reads one variable. @returns undefined when it isn't set and has no fallback, or after its faults were added */
export type ReadVariable = <T>(variable: Variable<T>) => T | undefined;

/** @returns a reader of one variable; an empty one counts as not set */
export function variableReader(env: NodeJS.ProcessEnv, faults: FaultList): ReadVariable {
  return ({ name, schema, fallback }) => {
    const written = isSet(env[name]) ? env[name] : fallback;
    return written === undefined ? undefined : faults.read(name, schema, written);
  };
}

/** Whether a variable holds anything. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
