/** The fields of the forms of actions. */
import { randomUUID } from 'node:crypto';
import { type Instant, millis, REASON_LIMIT } from '../../../contract/words.ts';
import { ACTOR_LIMIT } from '../../../order/messages/message-shapes.ts';
import { type Html, html, type Shown } from '../html.ts';
import { HOUR_MS } from '../words.ts';
import { type PageAction, wordsOf } from './action-words.ts';

const SNOOZES: Record<number, string> = {
  1: '1 hour',
  4: '4 hours',
  12: '12 hours',
  24: '1 day',
  48: '2 days',
};

/** What a form's fields have, as text. `once` identifies the form, so that one that is sent twice is done once. */
export type Typed = Partial<Record<'reason' | 'hours' | 'assignee' | 'once', string | undefined>>;

/** What a form needs to know besides the action. */
export interface FormOf {
  /** Makes the ids of the fields unique on the page. */
  id: string;
  /** What was typed before. */
  typed: Typed;
  /** Longer snoozes are left out, except for the shortest one, which the order may refuse. */
  cancelBy?: Instant | undefined;
}

/** @returns the fields of an action's form @param nowMs the time that a snooze starts at */
export function fieldsOf(action: PageAction, of: FormOf, nowMs: number): Shown {
  const { reason, label = 'Reason' } = wordsOf(action);
  return html`${action === 'snooze' && snoozeField(of, nowMs)}${action === 'assign' && assigneeField(of)}${reason && reasonField(reason, label, of)}`;
}

function reasonField(reason: 'required' | 'optional', label: string, { id, typed }: FormOf): Html {
  return html`<input type="hidden" name="once" value="${typed.once ?? randomUUID()}"><div><label for="reason-${id}">${label}${reason === 'optional' && ' (optional)'}</label>
<textarea id="reason-${id}" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="hint-${id}"${reason === 'required' && html` required`}>${typed.reason}</textarea>
<small class="quiet" id="hint-${id}">Stored with the order. Don’t enter personal or card data.</small></div>`;
}

function snoozeField({ id, typed, cancelBy }: FormOf, nowMs: number): Html {
  const leftMs = cancelBy === undefined || millis(cancelBy) <= nowMs ? undefined : millis(cancelBy) - nowMs;
  const options = Object.entries(SNOOZES).filter(
    ([hours]) => leftMs === undefined || Number(hours) * HOUR_MS < leftMs || hours === '1',
  );
  return html`<div><label for="hours-${id}">For</label><select id="hours-${id}" name="hours">${options.map(([hours, words]) => html`<option value="${hours}"${hours === typed.hours && html` selected`}>${words}</option>`)}</select></div>`;
}

function assigneeField({ id, typed }: FormOf): Html {
  return html`<div><label for="assignee-${id}">Person</label><input id="assignee-${id}" name="assignee" value="${typed.assignee}" maxlength="${ACTOR_LIMIT}" autocomplete="off"></div>`;
}
