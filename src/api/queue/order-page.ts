/** The page of one order: its state, the screening service's insights, actions, history and next steps. */
import type { OrderState } from '../../contract/state.ts';
import { millis } from '../../contract/words.ts';
import { isUnderWay } from '../../orders/portal-requests.ts';
import { cancelByOf, transactionOf } from '../../orders/transactions.ts';
import type { InspectedOrder } from '../../starter.ts';
import { confirmPath, NOTICES, type Notice, type PageAction, refusalOf, wordsOf } from './actions.ts';
import { actionLine } from './confirm-page.ts';
import {
  amount,
  clock,
  duration,
  factList,
  type Html,
  html,
  moment,
  type Now,
  orderPath,
  page,
  portalAddress,
  type Shown,
  type TemporalUi,
  temporalAnchor,
  temporalLink,
  transactionPath,
} from './layout.ts';
import { type Checks, checksOf, type Happening, timelineOf, upcoming } from './timeline.ts';

/** How an order is shown. */
export interface OrderView {
  notice?: Notice | undefined;
  temporalUi: TemporalUi | undefined;
  /** Of the integration's policy. */
  portalLink?: string | undefined;
  /** The viewer's permissions. Buttons that need others aren't shown. */
  may: { act: boolean; ops: boolean };
}

/** @returns the page @param now the time that ages and distances are relative to */
export function orderPage(
  order: InspectedOrder,
  { notice, temporalUi, portalLink, may }: OrderView,
  now: Now,
): string {
  const { summary, state, missing } = order;
  const content = html`${notice && html`<p class="notice" role="status">${NOTICES[notice]}</p>`}
${missing && html`<p class="alarm" role="status">${MISSING[missing]} This page shows only Temporal’s own data.</p>`}
${state?.attention.map(({ words, since }) => html`<p class="alarm">${words} <span class="quiet">Since ${clock(since, now)}</span></p>`)}
${state === undefined && summary.needsAttention && html`<p class="alarm">The order needs attention.</p>`}
${may.act || may.ops ? actions(order, may, now) : html`<p class="quiet">Your API key can read orders but not change them.</p>`}
${underWay(order, may.act, now)}
<section><h2>Now</h2>${factList(facts(order, temporalUi, portalLink, now))}</section>
${insights(state)}
${journal(state, now)}
<section><h2>Next</h2>${moments(upcoming(order, now.ms), (at) => moment(at, now), 'No automatic steps left.')}</section>
<section><h2>Timeline</h2>${moments(timelineOf(order), (at) => clock(at, now), 'Nothing recorded.')}</section>
${events(order, may.act, now)}`;
  return page(`Order ${summary.orderId}`, content, now);
}

const MISSING: Record<NonNullable<InspectedOrder['missing']>, string> = {
  undecryptable: 'The API’s PAYLOAD_KEYS can’t decrypt the order’s data: see docs/encryption.md.',
  'no-record': 'The workflow ended without a record because it was terminated or failed.',
};

function facts(
  order: InspectedOrder,
  ui: TemporalUi | undefined,
  portalLink: string | undefined,
  now: Now,
): (readonly [name: string, content: Shown])[] {
  const { summary, state, runId } = order;
  const { last, next } = checksOf(order, now.ms);
  const attempt = state?.attempts.at(-1);
  const cancelBy = (state && attempt && cancelByOf(state, attempt)) ?? summary.cancelBy;
  const startedAt = state?.startedAt ?? summary.startedAt;
  const transactionId =
    (state && attempt && transactionOf(state, attempt)?.id) ?? summary.transactionIds.at(-1);
  const portal = portalAddress(portalLink, transactionId);
  return [
    ['Integration', state === undefined ? summary.integration : `${summary.integration}, ${state.workflow}`],
    ['Phase', state?.phase ?? summary.phase],
    ['Decision', withReason(state?.decision ?? summary.decision, state?.reason)],
    ['Action', state?.action ?? summary.action],
    ['Would be', state?.wouldBe],
    ['Message to the customer', state?.message],
    [
      'Amount',
      summary.amount === undefined ? undefined : `${amount(summary.amount)}, in the order’s own currency`,
    ],
    ['Age', html`${duration(Math.max(0, now.ms - millis(startedAt)))}, since ${clock(startedAt, now)}`],
    ['Can be canceled until', cancelBy && moment(cancelBy, now)],
    ['Last check', last && lastCheck(last, now)],
    ['Next check', next && html`${moment(next.at, now)}, ${next.source}`],
    ['Attempts', state && `${state.attempts.length}`],
    [
      'Transaction',
      transactionId !== undefined &&
        html`${transactionId} <a href="${transactionPath(transactionId, summary.integration)}">Read it from the screening service</a>`,
    ],
    [
      'Portal',
      portal && html`<a href="${portal}" rel="noreferrer">Transaction in the screening service’s portal</a>`,
    ],
    ['Events delivered', state && `${state.events.delivered} of ${state.events.sequence}`],
    ['Temporal', temporalAnchor(temporalLink(ui, summary, runId), summary.orderId)],
  ];
}

function withReason(decision: string | undefined, reason: string | undefined): string | undefined {
  return decision !== undefined && reason !== undefined ? `${decision} (${reason})` : decision;
}

const BUTTONS: readonly [action: PageAction, name: string][] = [
  ['recheck', 'Recheck …'],
  ['acknowledge', 'Acknowledge …'],
  ['proceed', 'Approve …'],
  ['cancel', 'Cancel …'],
  ['decide-cancel', 'Reject …'],
];

function actions(order: InspectedOrder, may: OrderView['may'], now: Now): Html {
  const { summary, state } = order;
  const closed = summary.closedAt !== undefined;
  const canceled = (state?.phase ?? summary.phase) === 'canceled';
  const notCanceled = canceled ? undefined : refusalOf('cancel', order, now.ms);
  const shown = BUTTONS.filter(([action]) => {
    if (!may[wordsOf(action).scope] || refusalOf(action, order, now.ms) !== undefined) return false;
    if (action === 'cancel') return !canceled;
    // Reject is shown only if the order can't be canceled, since a cancel does the same. Without the state, its rules can't be checked.
    if (action === 'decide-cancel') return state !== undefined && notCanceled !== undefined;
    if (action === 'recheck') return !closed || state !== undefined;
    return action === 'acknowledge'
      ? state !== undefined || summary.needsAttention
      : state !== undefined && !closed;
  });
  return html`<p class="actions">
${shown.map(([action, name]) => html`<a class="button" href="${orderPath(summary, action)}">${name}</a> `)}
${notCanceled !== undefined && html`<span class="quiet">It can’t be canceled: ${notCanceled}.</span>`}
</p>`;
}

/** The portal actions that are queued or running, each with a withdraw button. */
function underWay({ summary, state }: InspectedOrder, mayAct: boolean, now: Now): Html | undefined {
  const waiting = state?.actions.filter(isUnderWay) ?? [];
  if (waiting.length === 0) return undefined;
  const rows = waiting.map((action) => {
    const path = orderPath(summary, confirmPath('withdraw', action.number));
    const button = html`<a class="button" href="${path}" aria-label="Withdraw portal action ${action.number}">Withdraw …</a>`;
    return html`<li>${actionLine(action, now)} ${mayAct && button}</li>\n`;
  });
  return html`<section><h2>Running portal actions</h2><ul>${rows}</ul></section>`;
}

/** The journal. API keys are verified; names of people are as claimed. */
function journal(state: OrderState | undefined, now: Now): Html | undefined {
  const entries = state?.journal ?? [];
  if (entries.length === 0) return undefined;
  const rows = entries.map(({ at, what, number, action, by = {}, because }) => {
    const words = [what, number ?? action].filter((one) => one !== undefined).join(' ');
    const who = [by.actor && `${by.actor} (as claimed)`, by.key && `key ${by.key}`]
      .filter(Boolean)
      .join(', ');
    return html`<li>${clock(at, now)}: ${words}, by ${who || 'an unnamed caller'}${because && `: ${because}`}</li>\n`;
  });
  return html`<section><h2>Journal</h2><ol class="timeline">${rows}</ol></section>`;
}

function moments(found: readonly Happening[], show: (at: string) => Html, nothing: string): Html {
  if (found.length === 0) return html`<p>${nothing}</p>`;
  return html`<ol class="timeline">${found.map(({ at, words }) => html`<li>${show(at)}: ${words}</li>\n`)}</ol>`;
}

/** @returns the last check with its source, and whether the screening service answered */
function lastCheck(last: NonNullable<Checks['last']>, now: Now): Shown {
  return html`${moment(last.at, now)}, ${last.source}${!last.answered && ' (no answer)'}`;
}

const GROUPS = {
  recommendation: 'Recommendation',
  risk: 'Risk',
  trust: 'Trust',
  neutral: 'Other',
} as const;

/** The insights of the newest reading that has any, highest impact first. */
function insights(state: OrderState | undefined): Html | undefined {
  const readings = state?.attempts.flatMap((attempt) => attempt.readings) ?? [];
  const said = readings.findLast((reading) => reading.insights !== undefined)?.insights;
  if (said === undefined) return undefined;
  const weight = (impact: string | undefined) => ['high', 'medium', 'low'].indexOf(impact ?? 'low');
  const groups = (['recommendation', 'risk', 'trust', 'neutral'] as const).flatMap((group) => {
    const each = Object.values(said[group] ?? {}).toSorted((a, b) => weight(a.impact) - weight(b.impact));
    const lines = each.map(
      ({ name, description, impact }) =>
        html`<li>${description ?? name ?? 'no description'}${impact && html` <span class="tag${impact === 'high' && group === 'risk' && ' bad'}">${impact}</span>`}</li>`,
    );
    return lines.length === 0 ? [] : [html`<h3>${GROUPS[group]}</h3><ul class="insights">${lines}</ul>`];
  });
  return groups.length === 0 ? undefined : html`<section><h2>Insights</h2>${groups}</section>`;
}

/** The stored events, newest first, each with a link to resend it. */
function events({ summary, state }: InspectedOrder, mayAct: boolean, now: Now): Html | undefined {
  const kept = state?.events.last ?? [];
  if (kept.length === 0) return undefined;
  const rows = kept.toReversed().map(({ sequence, type, occurredAt }) => {
    const path = orderPath(summary, confirmPath('redeliver', sequence));
    return html`<li>${sequence}: ${type}, ${clock(occurredAt, now)} ${mayAct && html`<a href="${path}" aria-label="Resend … event ${sequence}">Resend …</a>`}</li>\n`;
  });
  return html`<section><h2>Events</h2><ul>${rows}</ul></section>`;
}
