/** How long a check waits for whom it asks. */
export const ANSWER_WITHIN_MS = 5_000;

export type FindingStatus = 'ok' | 'warning' | 'fault' | 'skipped';

/** What a check found. No secret, no personal data, of an address that may hold a secret only the origin. */
export interface Finding {
  /** What was checked, a stable slug. */
  check: string;
  status: FindingStatus;
  /** What is so, or what is wrong. */
  what: string;
  /** What to do about it. */
  todo?: string;
}

/** @returns a number of things in words: `1 worker`, `2 workers` */
export function counted(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? '' : 's'}`;
}

/** Makes the findings of one check. */
export function finder(check: string) {
  return {
    ok: (what: string): Finding => ({ check, status: 'ok', what }),
    skipped: (what: string): Finding => ({ check, status: 'skipped', what }),
    warning: (what: string, todo: string): Finding => ({ check, status: 'warning', what, todo }),
    fault: (what: string, todo: string): Finding => ({ check, status: 'fault', what, todo }),
  };
}
