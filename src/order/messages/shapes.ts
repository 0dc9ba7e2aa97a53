/** Shapes of plain data that another program, or a person in Temporal, may have created. Pure, no zod. */

/** Returns whether a value has a shape. */
export type Shape = (value: unknown) => boolean;
/** The shape of each field that an object must have. */
export type Fields = Readonly<Record<string, Shape>>;

export const flag: Shape = (value) => typeof value === 'boolean';
export const finite: Shape = (value) => Number.isFinite(value);
export const whole: Shape = (value) => Number.isSafeInteger(value);

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A time in ISO 8601 with an offset. Without one it would depend on the worker's time zone. */
export const moment: Shape = (value) =>
  typeof value === 'string' && MOMENT.test(value) && !Number.isNaN(Date.parse(value));

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A string of at most that many characters. It may be empty if `least` is 0. */
export function text(most: number, least = 1): Shape {
  return (value) => typeof value === 'string' && value.length >= least && value.length <= most;
}

/** A string that isn't blank. */
export function words(most: number): Shape {
  return (value) => text(most)(value) && /\S/.test(String(value));
}

export function oneOfWords(known: readonly unknown[]): Shape {
  return (value) => known.includes(value);
}

export function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

export function mapOf(shape: Shape): Shape {
  return (value) => isRecord(value) && Object.values(value).every(shape);
}

export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

export function shaped(fields: Fields): Shape {
  return (value) => isRecord(value) && misfits(value, fields).length === 0;
}

/** An object whose `kind` determines its fields. */
export function oneOf(kinds: Readonly<Record<string, Fields>>): Shape {
  return (value) => {
    if (!isRecord(value) || typeof value.kind !== 'string' || !Object.hasOwn(kinds, value.kind)) return false;
    return shaped(kinds[value.kind] ?? {})(value);
  };
}

/** @returns the names of the fields that don't have their shape */
export function misfits(value: Record<string, unknown>, fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.(value[name]) === false);
}
