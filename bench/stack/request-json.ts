/** JSON over HTTP with keep-alive connections, by the HTTP client that order-screening has. */
import http from 'node:http';
import fetch from 'node-fetch';

const agent = new http.Agent({ keepAlive: true, timeout: 4_000 });

/**
 * Sends a request.
 * @returns the reply's body
 * @throws Error for any status but 2xx, or when the connection fails
 */
export async function requestJson(method: 'GET' | 'POST', url: string, body?: unknown): Promise<unknown> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method, agent, headers, ...sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} returned ${response.status}: ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}
