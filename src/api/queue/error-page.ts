/** What goes wrong, as a page: what happened, and what to do. No value that was sent is in it. */
import type { Problem } from '../problems.ts';
import { html } from './html.ts';
import { page } from './layout.ts';

/** @param tried whether something was to be done, not only shown @param back where to go on */
export function errorPage(code: string, problem: Problem, tried: boolean, back: string): string {
  const { title, detail } = tried ? problem : (READING[code] ?? problem);
  const { errors = [], serviceMessage } = problem;
  return page(
    title,
    html`<p class="alarm" role="alert">${detail}</p>
${serviceMessage && html`<p>The service said: ${serviceMessage}</p>`}
${errors.length > 0 && html`<ul>${errors.map(({ path, message }) => html`<li>${path} ${message}</li>`)}</ul>`}
<p><a href="${back}">${back === '/' ? 'Go to the order queue' : 'Go to the order'}</a></p>`,
  );
}

/** @returns what is shown when the key is missing, wrong, or valid no more */
export function signInPage(): string {
  return page(
    'Sign in with an API key',
    html`<p class="alarm" role="alert">No valid API key was sent. It may have been replaced since.</p>
<p>Reload the page, and when the browser asks, type any user name, and an API key (one of <code>API_KEYS</code>) as the password. The browser forgets it when it is closed.</p>
<p><a href="/">Sign in</a></p>`,
  );
}

/** Where nothing was to be done, what the API says about sending a request again would mislead. */
const READING: Readonly<Record<string, { title: string; detail: string }>> = {
  'temporal-unavailable': {
    title: 'Temporal can’t be reached',
    detail:
      'The orders are safe where they are. Nothing was changed. Try again in a moment; if it lasts, see whether Temporal runs.',
  },
  'unknown-order': {
    title: 'No such order',
    detail:
      'There is no such order in this integration, or none any more: closed orders are kept for 90 days. Check the id and the integration in the address.',
  },
};
