/** What tests of the pages share. */
import type { FastifyInstance } from 'fastify';

/** A value that would be markup, and how a page shows it. */
export const HOSTILE = `<img src=x onerror=alert(1)>"'&`;
export const SHOWN = '&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;';

/** Returns the text of a page, without its markup. */
export const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** Sends a form as a browser does; from these pages, unless the headers say otherwise. */
export const sendForm = (
  app: FastifyInstance,
  url: string,
  payload = '',
  headers: Record<string, string> = SAME_ORIGIN,
) =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload,
  });
