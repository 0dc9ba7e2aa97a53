/** The environment of order-screening: clocks, timers and HTTP. Simulations supply a virtual one. */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { HttpProxyAgent } from 'http-proxy-agent';
import { HttpsProxyAgent } from 'https-proxy-agent';
import fetch, { type RequestInit } from 'node-fetch';
import { getProxyForUrl } from 'proxy-from-env';
import { isLoopback } from '../contract/values.ts';

/** The parts of an HTTP response that are used. */
export interface HttpResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Machine {
  /** The wall clock in milliseconds since the epoch. It may be hours off, and may be adjusted while the process runs. */
  now(): number;
  /** A monotonic clock in milliseconds. */
  elapsed(): number;
  /** Calls back after a delay in milliseconds. @returns a function that cancels the callback */
  after(ms: number, call: () => void): () => void;
  /** Rejects with node-fetch's `FetchError`, or with an abort error once the request's signal has aborted. */
  fetch(url: string, request: RequestInit): Promise<HttpResponse>;
}

export const MACHINE: Machine = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  fetch: (url, request) => fetch(url, { agent: agentFor, ...request }),
};

/** Resolves after a delay in milliseconds on the machine's clock. */
export function sleepOn(machine: Machine, ms: number): Promise<void> {
  return new Promise((resolve) => {
    machine.after(ms, resolve);
  });
}

// How requests reach other services: directly, or through the proxy that `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name.

/**
 * Closes idle connections after 4 s. Many servers close them after 5 s, and a request sent at that moment would end with an
 * unknown outcome.
 */
const OPTIONS = { keepAlive: true, timeout: 4_000 };

/** By protocol and proxy. */
const agents = new Map<string, http.Agent>();

function agentFor(url: URL): http.Agent {
  const proxy = proxyFor(url);
  const key = `${url.protocol} ${proxy ?? ''}`;
  const agent = agents.get(key) ?? newAgent(url.protocol === 'http:', proxy);
  agents.set(key, agent);
  return agent;
}

/** Returns the address of the proxy for requests to an address; undefined: none. Nothing on this machine is reached through one. */
export function proxyFor(url: URL): string | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const proxy = getProxyForUrl(url.href);
  if (proxy === '') return undefined;
  // A proxy written as host:port speaks plain HTTP, as for curl. The library gives it the protocol of the request.
  const written = PROXY_VARIABLES.find((name) => `https://${process.env[name]}` === proxy);
  return written === undefined ? proxy : `http://${process.env[written]}`;
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

function newAgent(isPlain: boolean, proxy: string | undefined): http.Agent {
  if (proxy === undefined) return isPlain ? new http.Agent(OPTIONS) : new https.Agent(OPTIONS);
  return isPlain ? new HttpProxyAgent(proxy, OPTIONS) : new TunnelAgent(proxy, OPTIONS);
}

/** The code of the error if the proxy doesn't connect: nothing was sent through it. */
export const PROXY_REFUSED = 'ERR_PROXY_REFUSED';

/** Connects through a proxy. A refusal of the proxy, such as 403 or 407, is an error instead of the screening service's reply. */
class TunnelAgent extends HttpsProxyAgent<string> {
  override async connect(
    ...[request, options]: Parameters<HttpsProxyAgent<string>['connect']>
  ): Promise<Socket> {
    let status: number | undefined;
    request.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
      status = statusCode;
    });
    // Without this, a call that gives up while the proxy says nothing would leave its connection open.
    const unwanted = new AbortController();
    const giveUp = (): void => unwanted.abort();
    request.once('abort', giveUp);
    // Read before the first pause of `connect`.
    Object.assign(this.connectOpts, { signal: unwanted.signal });
    const socket = await super.connect(request, options);
    request.off('abort', giveUp);
    if (status === 200) return socket;
    socket.destroy();
    throw Object.assign(new Error(`the proxy answered ${status}`), { code: PROXY_REFUSED });
  }
}
