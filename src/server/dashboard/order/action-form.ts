/** The forms of the actions. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { integrationNameSchema, orderIdSchema } from '../../../client/read-requests.ts';
import { type Instant, millis, REASON_LIMIT } from '../../../contract/words.ts';
import { ACTOR_LIMIT } from '../../../order/messages/message-shapes.ts';
import { FROM_LIMIT } from '../../api/request-schemas.ts';
import { type Html, html, type Shown } from '../html.ts';
import { options } from '../layout.ts';
import { HOUR_MS, type Now } from '../words.ts';
import { PAGE_ACTIONS, type PageAction, SEVERAL } from './actions.ts';

/** The fields of a form as they were typed. */
export const typedFields = z.record(z.string(), z.string()).catch({});
export type Typed = z.output<typeof typedFields>;

interface FormOf {
  /** Where it is sent. */
  path: string;
  /** Makes the ids of the fields unique on the page. */
  id?: string;
  typed: Typed;
  /** Longer snoozes are left out, except for the shortest one, which the order may refuse. */
  cancelBy?: Instant | undefined;
  /** More of the form, before the fields. */
  more?: Shown;
  /** A link beside the button. */
  back?: Html;
}

export function actionForm(action: PageAction, form: FormOf, now: Now): Html {
  const { about, button, danger, reason, label = 'Reason' } = PAGE_ACTIONS[action];
  const { path, id = action, typed, more, back } = form;
  const submit = html`<button class="${danger ? 'danger' : 'primary'}">${button}</button>`;
  return html`<form method="post" action="${path}"><p>${about}</p>${more}
${action === 'snooze' && html`<div><label for="hours-${id}">For</label><select id="hours-${id}" name="hours">${snoozes(form, now)}</select></div>`}
${action === 'assign' && html`<div><label for="assignee-${id}">Person</label><input id="assignee-${id}" name="assignee" value="${typed.assignee}" maxlength="${ACTOR_LIMIT}" autocomplete="off"></div>`}
${
  reason &&
  html`<input type="hidden" name="once" value="${typed.once ?? randomUUID()}"><div><label for="reason-${id}">${label}${reason === 'optional' && ' (optional)'}</label>
<textarea id="reason-${id}" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="hint-${id}"${reason === 'required' && html` required`}>${typed.reason}</textarea>
<small class="quiet" id="hint-${id}">Stored with the order. Don’t enter personal or card data.</small></div>`
}${back ? html`<p class="line">${submit} ${back}</p>` : submit}</form>`;
}

const SNOOZES = { 1: '1 hour', 4: '4 hours', 12: '12 hours', 24: '1 day', 48: '2 days' };

function snoozes({ typed, cancelBy }: FormOf, now: Now): Html[] {
  const leftMs = cancelBy === undefined ? 0 : millis(cancelBy) - now.ms;
  const offered = Object.entries(SNOOZES).filter(
    ([hours]) => leftMs <= 0 || Number(hours) * HOUR_MS < leftMs || hours === '1',
  );
  return options(Object.fromEntries(offered), typed.hours);
}

/** As many as a page of the queue has. */
const MOST_CHOSEN = 100;

/** An order as `integration/orderId`. */
const chosenOrder = z
  .string('must be selected')
  .transform((one) => {
    const [integration, ...id] = one.split('/');
    return { integration, orderId: id.join('/') };
  })
  .pipe(z.object({ integration: integrationNameSchema, orderId: orderIdSchema }));
/** The selected orders, what to do with them, and their list. */
export const selectionSchema = z
  .object({
    do: z.enum(SEVERAL, { error: `must be one of ${SEVERAL.join(', ')}` }),
    order: z.preprocess(
      (given) => [...new Set([given].flat())],
      z.array(chosenOrder).max(MOST_CHOSEN, `must be at most ${MOST_CHOSEN}`),
    ),
    from: z.string().max(FROM_LIMIT).optional().catch(undefined),
  })
  .transform(({ do: action, order: chosen, from }) => ({ action, chosen, from }));
