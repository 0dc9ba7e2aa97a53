import type { IncomingHttpHeaders } from 'node:http';

/**
 * Who a request comes from, as browsers say: a page of this API, a page of another address, or none: another program, or
 * an address that somebody typed. `Sec-Fetch-Site` is sent by every browser of today over HTTPS and on this machine,
 * `Origin` with every form, also without those.
 */
export function sentBy(headers: IncomingHttpHeaders): 'own page' | 'foreign page' | 'no page' {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site === 'none' || (site === undefined && origin === undefined)) return 'no page';
  const own = site === undefined ? hostOf(origin) === host : site === 'same-origin';
  return own ? 'own page' : 'foreign page';
}

function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}
