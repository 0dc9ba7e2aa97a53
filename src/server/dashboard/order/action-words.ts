/** The actions on the pages: their texts, scopes and addresses. */

interface Words {
  about: string;
  button: string;
  scope: 'act' | 'ops';
  reason?: 'required' | 'optional';
  /** What the form calls the reason. */
  label?: string;
  /** It can't be undone. */
  danger?: true;
}

/** All actions. Overriding the screening service's decision needs the scope `ops`, as in the API. */
export const PAGE_ACTIONS = {
  recheck: {
    about:
      'Reads the decision from the screening service now, also for a closed order. Screens an open order again if its decision is error.',
    button: 'Recheck',
    scope: 'act',
  },
  acknowledge: {
    about: 'Clears everything that needs attention. Describe what was done about it.',
    button: 'Resolve',
    scope: 'act',
    reason: 'required',
  },
  proceed: {
    about:
      'Overrides the screening service: the order’s action becomes proceed, whatever the screening service decides later. Withdraws a queued cancel.',
    button: 'Approve',
    scope: 'ops',
    reason: 'required',
  },
  'decide-cancel': {
    about:
      'Overrides the screening service: the order’s action becomes cancel, and the transaction is canceled with the screening service if that is still possible. This doesn’t void or refund the payment; the order service does that.',
    button: 'Reject and cancel',
    scope: 'ops',
    reason: 'required',
    danger: true,
  },
  cancel: {
    about:
      'Cancels the transaction with the screening service. The order’s action becomes cancel. This can’t be undone, and it doesn’t void or refund the payment; the order service does that.',
    button: 'Cancel order',
    scope: 'act',
    reason: 'optional',
    danger: true,
  },
  snooze: {
    about:
      'Puts the order off. It comes back at that time, and before if anything new needs a person or its cancel window ends.',
    button: 'Snooze',
    scope: 'act',
    reason: 'required',
    label: 'Note',
  },
  note: {
    about: 'Adds a note to the order’s journal.',
    button: 'Add note',
    scope: 'act',
    reason: 'required',
    label: 'Note',
  },
  assign: {
    about: 'Names the person who handles the order. Leave it empty for nobody.',
    button: 'Assign',
    scope: 'act',
  },
  withdraw: {
    about:
      'Stops sending the action to the screening service. An action that was already sent may still succeed; the order then shows it as done.',
    button: 'Withdraw action',
    scope: 'act',
  },
  redeliver: {
    about: 'Sends the event to the receiver again, with the same id and content.',
    button: 'Resend event',
    scope: 'act',
  },
} as const satisfies Record<string, Words>;
export type PageAction = keyof typeof PAGE_ACTIONS;

/** The actions that can be applied to several orders at once. */
export const SEVERAL = [
  'recheck',
  'acknowledge',
  'proceed',
  'decide-cancel',
  'snooze',
  'note',
] as const satisfies readonly PageAction[];
export type Several = (typeof SEVERAL)[number];

/** @returns the texts and the scope of an action */
export function wordsOf(action: PageAction): Words {
  return PAGE_ACTIONS[action];
}

/** @returns the path of the confirmation page, relative to the order's page @param number of the portal action or event */
export function confirmPath(action: PageAction, number?: number | ':number'): string {
  if (action === 'withdraw') return `actions/${number}/withdraw`;
  return action === 'redeliver' ? `events/${number}/redeliver` : action;
}

/** @returns whether a string is the name of an action */
export function isAction(word: string): word is PageAction {
  return Object.hasOwn(PAGE_ACTIONS, word);
}
