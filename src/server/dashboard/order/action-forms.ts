/** The forms of the actions: on an order's page, on pages of their own, and for several orders. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { integrationNameSchema, orderIdSchema } from '../../../client/read-requests.ts';
import type { OrderKey } from '../../../contract/ids.ts';
import {
  ACTOR_LIMIT,
  type Instant,
  millis,
  type OrderDecision,
  REASON_LIMIT,
} from '../../../contract/words.ts';
import { defined } from '../../../order/defined.ts';
import type { InspectedOrder } from '../../../starter.ts';
import { FROM_LIMIT } from '../../api/request-schemas.ts';
import { CHOSEN, type From, orderPath, type TemporalUi } from '../addresses.ts';
import { problemBox, type Why } from '../card-pages.ts';
import { asTyped, type Html, html, type Shown } from '../html.ts';
import { cardPage, decisionPill, options, orderLink, type Page, table } from '../layout.ts';
import { distance, HOUR_MS, money, type Now } from '../words.ts';
import { actionPath, askedSchema, PAGE_ACTIONS, type PageAction, refusalOf, SEVERAL } from './actions.ts';

interface FormOf {
  path: string;
  /** Makes the ids of the fields unique on the page. */
  id?: string;
  typed: Record<string, string>;
  /** Longer snoozes are left out, except for the shortest one, which the order may refuse. */
  cancelBy?: Instant | undefined;
  more?: Shown;
  back?: Html;
}

function actionForm(action: PageAction, form: FormOf, now: Now): Html {
  const { about, button, danger, reason, label = 'Reason' } = PAGE_ACTIONS[action];
  const { path, id = action, typed, more, back } = form;
  const submit = html`<button class="${danger ? 'danger' : 'primary'}">${button}</button>`;
  return html`<form method="post" action="${path}"><p>${about}</p>${more}
${action === 'snooze' && html`<div><label for="hours-${id}">For</label><select id="hours-${id}" name="hours">${snoozes(form, now)}</select></div>`}
${action === 'assign' && html`<div><label for="assignee-${id}">Person</label><input id="assignee-${id}" name="assignee" value="${asTyped(typed.assignee)}" maxlength="${ACTOR_LIMIT}" autocomplete="off"></div>`}
${
  reason &&
  html`<input type="hidden" name="once" value="${typed.once ?? randomUUID()}"><input type="hidden" name="ifAction" value="${typed.ifAction}"><input type="hidden" name="until" value="${typed.until}"><div><label for="reason-${id}">${label}${reason === 'optional' && ' (optional)'}</label>
<textarea id="reason-${id}" name="reason" maxlength="${REASON_LIMIT}" aria-describedby="hint-${id}"${reason === 'required' && html` required`}>${asTyped(typed.reason)}</textarea>
<small class="quiet" id="hint-${id}">Stored with the order. Don’t enter personal or card data.</small></div>`
}${back ? html`<p class="line">${submit} ${back}</p>` : submit}</form>`;
}

const SNOOZES = { 1: '1 hour', 4: '4 hours', 12: '12 hours', 24: '1 day', 48: '2 days' };

function snoozes({ typed, cancelBy }: FormOf, now: Now): Html[] {
  const leftMs = cancelBy === undefined ? 0 : millis(cancelBy) - now.ms;
  const fits = (hours: string) => leftMs <= 0 || Number(hours) * HOUR_MS < leftMs || hours === '1';
  const offered = Object.entries(SNOOZES).filter(([hours]) => fits(hours));
  return options(Object.fromEntries(offered), typed.hours);
}

/** An order, and what the pieces of its page depend on. */
export interface ShownOrder extends InspectedOrder {
  now: Now;
  /** The viewer's permissions. Buttons that need others aren't shown. */
  may: { act: boolean; ops: boolean };
  /** Where the page was opened from. */
  place: From;
  temporalUi?: TemporalUi | undefined;
  /** Of the integration's policy. */
  portalLink?: string | undefined;
  shopLink?: string | undefined;
}

/** The decisions that leave it to a person. Approving against another one isn't the first choice. */
const OPEN: readonly OrderDecision[] = ['review', 'pending', 'error'];

/** @returns a button that opens the form of an action in place @param number of the portal action or event */
export function foldedForm(action: PageAction, view: ShownOrder, number?: number): Html {
  const { summary, state, place, now } = view;
  const { button, danger } = PAGE_ACTIONS[action];
  const isOpen = OPEN.includes(state?.decision ?? summary.decision ?? 'pending');
  const isPrimary = action === 'acknowledge' || (action === 'proceed' && isOpen);
  const kind = danger ? 'danger' : isPrimary ? 'primary' : '';
  const form = {
    path: orderPath(summary, actionPath(action, number), place),
    id: number === undefined ? action : `${action}-${number}`,
    typed: { ...seenOf(state), ...defined({ assignee: state?.assignee }) },
    cancelBy: summary.cancelBy,
  };
  return html`<details name="act" id="${form.id}"><summary class="button ${kind}">${button}…</summary>${actionForm(action, form, now)}</details>`;
}

/** The fields of a form that say what the person sees: the action depends on it. */
export function seenOf(state: InspectedOrder['state']): { ifAction?: string; until?: string } {
  return defined({ ifAction: state?.action, until: state?.attention.at(-1)?.since ?? state?.startedAt });
}

/** Why a form wasn't accepted, and what was typed, so that it isn't lost. */
interface Again {
  problem: Why;
  typed: Record<string, string>;
  /** Of the portal action or event. */
  number?: number | undefined;
  place?: From;
}

/** @returns the page of a form on one order that wasn't accepted */
export function confirmPage(action: PageAction, order: OrderKey, again: Again, now: Now): Page {
  const { problem, typed, number, place } = again;
  const title = `${PAGE_ACTIONS[action].button}: ${number === undefined ? '' : `${number} of `}order ${order.orderId}?`;
  const path = orderPath(order, actionPath(action, number), place);
  const back = html`<a href="${orderPath(order, undefined, place)}">Back to the order</a>`;
  return cardPage(title, html`${problemBox(problem)}${actionForm(action, { path, typed, back }, now)}`);
}

/** As many as a page of the queue has. */
const MOST_CHOSEN = 100;

const { ifAction, until } = askedSchema.shape;
const chosenFields = { ifAction, until, integration: integrationNameSchema, orderId: orderIdSchema };
const chosenOrder = z.preprocess(
  (one) => CHOSEN.exec(String(one))?.groups,
  z.object(chosenFields, 'must be selected'),
);
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

/** The selected orders, what to do with them, and the list that they were selected in with its path. */
type Selection = z.output<typeof selectionSchema> & { back: string };

/** Confirms an action on several orders, with its effect on each. The form leaves out an order that couldn't be read: its action is unknown. */
export function severalPage(
  { action, from, back }: Selection,
  orders: readonly { order: OrderKey; found: InspectedOrder | undefined }[],
  now: Now,
  again?: Again,
): Page {
  const { button } = PAGE_ACTIONS[action];
  const rows = orders.map(({ order, found }) => {
    const { amount, currency, decision, action: does, cancelBy } = found?.summary ?? {};
    const isRead = found?.state !== undefined;
    const refusal = isRead ? refusalOf(action, found, now.ms) : 'it can’t be read';
    const { ifAction = '', until = '' } = seenOf(found?.state);
    const value = `${ifAction} ${until} ${order.integration}/${order.orderId}`;
    return [
      html`${orderLink(order)}${isRead && html`<input type="hidden" name="order" value="${value}">`}`,
      money(amount, currency),
      found === undefined ? 'unknown' : decisionPill(decision, does),
      cancelBy === undefined ? 'none' : distance(cancelBy, now),
      refusal === undefined ? button : `Nothing: ${refusal}`,
    ];
  });
  const columns = { Order: '', Amount: 'number', Decision: '', Deadline: '', 'What happens': '' };
  const more = html`${table('Orders', columns, rows)}<input type="hidden" name="do" value="${action}">${from !== undefined && html`<input type="hidden" name="from" value="${from}">`}`;
  const leave = html`<a href="${back}">Back to the list</a>`;
  const { length } = orders.filter(({ found }) => found?.state !== undefined);
  const typed = again?.typed ?? {};
  const form =
    length === 0
      ? html`${more}<p>${leave}</p>`
      : actionForm(action, { path: '/several', typed, more, back: leave }, now);
  const title = `${button}: ${length} ${length === 1 ? 'order' : 'orders'}?`;
  return cardPage(title, html`${again && problemBox(again.problem)}${form}`);
}

interface Result {
  order: OrderKey;
  outcome: 'done' | 'nothing to do' | 'not done';
  words: string;
}

export function resultsPage({ action, back }: Selection, results: readonly Result[]): Page {
  const count = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  const [done, failed, unchanged] = [count('done'), count('not done'), count('nothing to do')];
  const rows = results.map(({ order, outcome, words }) => [
    orderLink(order),
    html`<b class="flag ${outcome === 'not done' && 'attention'}">${outcome}</b> ${words}`,
  ]);
  return cardPage(
    `${PAGE_ACTIONS[action].button}: ${done} of ${results.length} done`,
    html`<div role="status">${failed > 0 && html`<p class="box red">${failed} ${failed === 1 ? 'order was' : 'orders were'} not changed, or the outcome is unknown: see below.</p>`}${unchanged > 0 && html`<p>For ${unchanged} ${unchanged === 1 ? 'order' : 'orders'} there was nothing to do.</p>`}</div>
${table('Orders', { Order: '', 'What happened': '' }, rows)}
<p><a href="${back}">Back to the list</a></p>`,
  );
}
