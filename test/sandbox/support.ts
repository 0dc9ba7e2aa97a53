import { request as httpRequest } from 'node:http';
import { onTestFinished } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create-sandbox.ts';

export const TEST_KEY = 'sandbox-test-key';
export const LIVE_KEY = 'sandbox-live-key';
export const DAY_MS = 24 * 60 * 60 * 1000;

/** A sandbox on a free port, closed when the test ends. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox({ port: 0, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

type Json = Record<string, unknown>;

/** A valid pre-acceptance transaction for the test address. */
export function transaction(changes: Json = {}): Json {
  return {
    'nf-token': TEST_KEY,
    amount: '42.50',
    customer: { email: 'pass@example.com' },
    payment: { creditCard: { last4: '1111' } },
    billTo: {},
    customerIP: '192.0.2.7',
    avsResultCode: 'Y',
    cvvResultCode: 'M',
    order: { invoiceNumber: 'A-1' },
    ...changes,
  };
}

/** A transaction that gets this decision. */
export function decidedAs(word: string, changes: Json = {}): Json {
  return transaction({ customer: { email: `${word}@example.com` }, ...changes });
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what it reads
  readonly body: any;
}

/** Sends one request by node:http, which rejects with the code of a reset or truncated reply. */
export function send(
  method: string,
  url: string,
  body?: unknown,
  options: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Reply> {
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const headers = {
    ...(payload !== undefined && { 'content-type': 'application/json' }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, agent: false, ...options, headers }, async (response) => {
      try {
        const text = (await response.setEncoding('utf8').toArray()).join('');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, body: parsed(text) });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
    request.end(payload);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Creates a transaction at the test address and returns its id. */
export async function created(sandbox: Sandbox, body: Json = transaction()): Promise<string> {
  const reply = await send('POST', `${sandbox.testBaseUrl}/transaction`, body);
  if (reply.status !== 200) throw new Error(`not created: ${reply.text}`);
  return String(reply.body.id);
}

/** Sends a portal action with the test key. */
export function portal(sandbox: Sandbox, action: string, body: Json): Promise<Reply> {
  return send('POST', `${sandbox.portalBaseUrl}/${action}`, { nf_token: TEST_KEY, ...body });
}
