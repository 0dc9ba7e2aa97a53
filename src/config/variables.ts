import type { FaultList } from './fault-list.ts';
import type { Variable } from './known-variables.ts';

/** Reads one variable. A faulty one adds its faults. */
export interface ReadVariable {
  /** @returns what is written; when nothing is, or nothing right, the fallback */
  <T>(variable: Variable<T> & { fallback: string }): T;
  /** @returns undefined when it isn't set, or after its faults were added */
  <T>(variable: Variable<T>): T | undefined;
}

/** @returns a reader of one variable; an empty one counts as not set */
export function variableReader(env: NodeJS.ProcessEnv, faults: FaultList): ReadVariable {
  function read<T>(variable: Variable<T> & { fallback: string }): T;
  function read<T>(variable: Variable<T>): T | undefined;
  function read<T>({ name, schema, fallback }: Variable<T>): T | undefined {
    const given = isSet(env[name]) ? faults.read(name, schema, env[name]) : undefined;
    return given ?? (fallback === undefined ? undefined : schema.parse(fallback));
  }
  return read;
}

/** Whether a variable holds anything. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
