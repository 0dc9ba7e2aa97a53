type UndefinedKeys<T> = { [Key in keyof T]: undefined extends T[Key] ? Key : never }[keyof T];

/** An object type without undefined properties. */
type Defined<T> = Omit<T, UndefinedKeys<T> & keyof T> & {
  [Key in UndefinedKeys<T> & keyof T]?: Exclude<T[Key], undefined>;
};

/** Returns the object without its undefined properties, which would affect the history and comparisons. */
export function defined<const T extends object>(object: T): Defined<T>;
export function defined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
