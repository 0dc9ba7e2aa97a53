type UndefinedKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];

/** An object whose properties are absent where they were undefined. */
export type Defined<T> = Omit<T, UndefinedKeys<T> & keyof T> & {
  [Key in UndefinedKeys<T> & keyof T]?: Exclude<T[Key], undefined>;
};

/** Returns the object without its undefined properties: such a property would be in history, and in comparisons. */
export function defined<const T extends object>(object: T): Defined<T>;
export function defined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
