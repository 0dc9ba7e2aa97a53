import type { z } from 'zod';
import type { Fault } from '../orders/errors.ts';

/** Thrown when a process can't start with its settings. Its message lists every fault, and no value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    const lines = faults.map(({ path, message }) => `  ${path}: ${message}`);
    super(`The configuration has ${faults.length} fault(s):\n${lines.join('\n')}`);
    this.faults = faults;
  }
}

/** Collects faults while settings are read, so that a person sees all of them at once. */
export class FaultList {
  readonly #faults: Fault[] = [];

  /** @param path a variable's name, or the path in the policy file */
  add(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  /** Reads one value. @returns it, or undefined after its faults were added */
  read<T>(path: string, schema: z.ZodType<T>, raw: unknown): T | undefined {
    const result = schema.safeParse(raw);
    if (result.success) return result.data;
    for (const issue of result.error.issues) this.#addIssue(path, issue);
    return undefined;
  }

  #addIssue(path: string, issue: z.core.$ZodIssue): void {
    const place = pathTo(path, issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) this.add(pathTo(place, [key]), 'is not a known key');
    } else if (issue.code === 'invalid_union') {
      // The kind of value that was meant is the one whose faults lie inside it.
      const meant = issue.errors.find((issues) => issues.some((inner) => inner.path.length > 0));
      if (meant === undefined) this.add(place, issue.message);
      else for (const inner of meant) this.#addIssue(place, inner);
    } else {
      this.add(place, issue.message);
    }
  }

  get all(): readonly Fault[] {
    return this.#faults;
  }

  /** @throws ConfigError when there is any fault */
  throwIfAny(): void {
    if (this.#faults.length > 0) this.fail();
  }

  /** @throws ConfigError, always */
  fail(): never {
    throw new ConfigError(this.#faults);
  }
}

function pathTo(path: string, rest: readonly PropertyKey[]): string {
  return rest.reduce<string>(
    (so, step) => (typeof step === 'number' ? `${so}[${step}]` : `${so}.${String(step)}`),
    path,
  );
}
