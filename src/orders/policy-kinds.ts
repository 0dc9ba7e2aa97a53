/** The kinds of the policy file's keys: what one may hold, and what it is once it was read. */
import type { UnavailableAction } from './words.ts';

/** What one key of the policy file may hold. */
export type ValueKind =
  | { kind: 'flag' | 'address' | 'rules' | 'action or rules' | 'paths' }
  /** An https address with `{transactionId}` in it. */
  | { kind: 'link' }
  /** An address that something is sent to as it stands. */
  | { kind: 'target' }
  /** Such as `12h`. `most` is the longest; with `orZero` it may be `0s`. */
  | { kind: 'duration'; most?: string; orZero?: true }
  | { kind: 'number' | 'whole number'; least: number; most: number }
  | { kind: 'word'; words: readonly [string, ...string[]] }
  /** `most` counts characters. */
  | { kind: 'text'; most: number }
  /** The name of an environment variable, whose value is read at each call and nowhere kept. */
  | { kind: 'variable' }
  | { kind: 'group'; parts: Record<string, ValueKind> };

/** A key of the policy file. */
export type PolicyKey = ValueKind & {
  /** As it would be written; a key without one is required, unless it is optional. */
  fallback?: unknown;
  optional?: true;
  /** False for what only a call to the service needs: an order doesn't record it. */
  recorded?: false;
  /** Its line in the guide, in Markdown. */
  about: string;
};

// Rules on an order: which orders aren't screened (`skip`), and what `whenUnavailable` says.

/** All conditions of a rule must hold; a list matches when it has the order's value, whatever the case. */
export interface OrderRule {
  amountBelow?: number | undefined;
  amountAtLeast?: number | undefined;
  currency?: string[] | undefined;
  paymentMethod?: string[] | undefined;
  customerId?: string[] | undefined;
  itemCategory?: string[] | undefined;
}

export interface UnavailableRule extends Pick<OrderRule, 'amountBelow' | 'amountAtLeast' | 'paymentMethod'> {
  action: UnavailableAction;
}

/** What a key is once it was read: durations are milliseconds. */
interface ValueOf {
  flag: boolean;
  duration: number;
  number: number;
  'whole number': number;
  text: string;
  address: string;
  target: string;
  /** Nothing, or nothing but an empty text, while the variable isn't set. */
  variable: () => string | undefined;
  rules: OrderRule[];
  paths: string[];
  link: string;
  'action or rules': UnavailableAction | UnavailableRule[];
}

type Value<Key> = Key extends { optional: true } ? Given<Key> | undefined : Given<Key>;

type Given<Key> = Key extends { words: readonly (infer Word)[] }
  ? Word
  : Key extends { parts: infer Parts }
    ? Settings<Parts>
    : Key extends { kind: keyof ValueOf }
      ? ValueOf[Key['kind']]
      : never;

type SettingName<Name extends string, Key> = Key extends { kind: 'duration' }
  ? `${Name}Ms`
  : Key extends { kind: 'variable' }
    ? Name extends `${infer Held}Env`
      ? Held
      : Name
    : Name;

/** Keys as they are once they were read: `cancelWindow` is `cancelWindowMs`, `apiKeyEnv` is `apiKey()`. */
export type Settings<Keys> = {
  -readonly [Name in keyof Keys & string as SettingName<Name, Keys[Name]>]: Value<Keys[Name]>;
};
