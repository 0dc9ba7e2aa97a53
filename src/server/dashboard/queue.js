// Keys, news and running actions. The pages work without this file.

const isTyping = ({ target }) => target.matches?.('input:not([type=checkbox]), textarea, select');

/** Opens the form of an action on an order's page, and focuses its first field. */
function open(id) {
  const form = document.getElementById(id);
  if (form === null) return;
  form.open = true;
  form.querySelector('textarea, form button')?.focus();
}

const rows = () => [...document.querySelectorAll('.orders tbody tr:not(.band)')];
const current = () => document.querySelector('.orders tr.here');

/** Moves the mark to a row of the table. */
function mark(row) {
  if (row === undefined) return;
  const before = current();
  before?.classList.remove('here');
  before?.removeAttribute('aria-current');
  row.classList.add('here');
  row.setAttribute('aria-current', 'true');
}

/** Moves the mark by that many rows of the table. */
function move(by) {
  const all = rows();
  mark(all[Math.min(all.length - 1, Math.max(0, all.indexOf(current()) + by))]);
  current()?.scrollIntoView({ block: 'nearest' });
}

function help() {
  const list = document.querySelectorAll('.foot .desk');
  if (list.length === 0) return;
  const dialog = document.createElement('dialog');
  dialog.className = 'keys';
  dialog.setAttribute('aria-label', 'Keys');
  dialog.append(...[...list].map((one) => Object.assign(one.cloneNode(true), { className: '' })));
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** The order that an address names. */
const orderIn = ({ pathname, search }) => `${pathname}?${new URLSearchParams(search).get('integration')}`;

const go = (selector) => document.querySelector(selector)?.click();

const LIST_KEYS = {
  j: () => move(1),
  k: () => move(-1),
  Enter: () => current()?.querySelector('.id a').click(),
  x: () => current()?.querySelector('input[type=checkbox]')?.click(),
  '/': () => document.getElementById('q')?.focus(),
};
const ORDER_KEYS = {
  j: () => go('[rel=next]'),
  k: () => go('[rel=prev]'),
  u: () => go('.steps a'),
  a: () => open('proceed'),
  r: () => open(document.getElementById('decide-cancel') === null ? 'cancel' : 'decide-cancel'),
  z: () => open('snooze'),
  n: () => open('note'),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  // Enter on a link, a button or a check box is the browser's.
  if (event.key === 'Enter' && event.target !== document.body && event.target.id !== 'content') return;
  if (document.querySelector('dialog[open]') !== null) return;
  const keys = document.querySelector('.order') === null ? LIST_KEYS : ORDER_KEYS;
  const run = event.key === '?' ? help : keys[event.key];
  if (run === undefined) return;
  event.preventDefault();
  run();
});

// While a form is being answered, another click would send it again. An answer takes 10 s at most, unless the browser was stopped.
const ANSWERED_MS = 12_000;
document.addEventListener('submit', (event) => {
  const { dataset } = event.target;
  if (event.timeStamp < Number(dataset.sent ?? -ANSWERED_MS) + ANSWERED_MS) event.preventDefault();
  else dataset.sent = event.timeStamp;
});
addEventListener('pageshow', () => {
  for (const form of document.forms) delete form.dataset.sent;
});

/** Back from an order, the mark is on the order that was open last, whichever way it was opened. */
if (document.querySelector('.order') !== null) sessionStorage.setItem('here', orderIn(location));
const last = sessionStorage.getItem('here');
mark(rows().find((row) => orderIn(row.querySelector('.id a')) === last));

/** Nothing moves while the page is hidden, or a form in the element is open or something in it has the focus. */
const isStill = (element) => document.hidden || element.querySelector('details[open], :focus') !== null;

/** A link that opens the same page again, and so the sign-in. */
function signInLink() {
  const link = document.createElement('a');
  return Object.assign(link, { href: '', className: 'button news', textContent: 'Session ended: sign in' });
}

/** Replaces the content of an element by what the server answers, until it has nothing to poll. */
function poll(element) {
  const { poll: url, seconds } = element.dataset;
  const timer = setInterval(async () => {
    if (isStill(element)) return;
    const answer = await fetch(url, { redirect: 'manual' }).catch(() => undefined);
    // The only redirect is that to the sign-in.
    if (answer?.type === 'opaqueredirect' && !isStill(element)) {
      clearInterval(timer);
      element.replaceChildren(signInLink());
    }
    if (answer?.ok !== true) return;
    const parts = new DOMParser().parseFromString(await answer.text(), 'text/html').body;
    // A link that is replaced between the press and the release of a button is never followed.
    if (isStill(element)) return;
    const inner = parts.querySelector(`#${element.id}`) ?? parts;
    if (element.innerHTML !== inner.innerHTML) element.replaceChildren(...inner.childNodes);
    if (element.id === 'running' && inner === parts) clearInterval(timer);
  }, Number(seconds) * 1_000);
}
for (const element of document.querySelectorAll('[data-poll]')) poll(element);
