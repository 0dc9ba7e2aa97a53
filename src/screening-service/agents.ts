/** How requests reach other services: directly, or through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name. */
import http from 'node:http';
import https from 'node:https';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../contract/addresses.ts';

/**
 * Closes idle connections after 4 s. Many servers close them after 5 s, and a request sent at that moment would end with an
 * unknown outcome.
 */
const OPTIONS = { keepAlive: true, timeout: 4_000 };

/** By protocol and proxy. */
const agents = new Map<string, http.Agent>();

/** Returns the agent for requests to an address. */
export function agentFor(url: URL): http.Agent {
  const proxy = proxyFor(url);
  const key = `${url.protocol} ${proxy ?? ''}`;
  const agent = agents.get(key) ?? newAgent(url.protocol === 'http:', proxy);
  agents.set(key, agent);
  return agent;
}

/** Returns the address of the proxy for requests to an address; undefined: none. Nothing on this machine is reached through one. */
export function proxyFor(url: URL): string | undefined {
  return isLoopback(url.hostname) ? undefined : getProxyForUrl(url.href) || undefined;
}

function newAgent(isPlain: boolean, proxy: string | undefined): http.Agent {
  if (proxy === undefined) return isPlain ? new http.Agent(OPTIONS) : new https.Agent(OPTIONS);
  return isPlain ? new HttpProxyAgent(proxy, OPTIONS) : new HttpsProxyAgent(proxy, OPTIONS);
}
