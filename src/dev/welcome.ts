/** What `npm start` shows: sample orders, and where everything is. */
import { readFile } from 'node:fs/promises';
import Table from 'cli-table3';
import { z } from 'zod';
import type { LocalStack } from './local-stack.ts';

/** The least that the service asks of a pre-acceptance order, so that the line can be pasted. */
const ORDER =
  '{"transaction":{"amount":"249.00","customer":{"email":"review@example.com"},"payment":{"creditCard":{"last4":"1111"}},"billTo":{},"customerIP":"203.0.113.7","avsResultCode":"Y","cvvResultCode":"M"}}';

/** @returns the table of the sample orders: decision, action, time taken */
export function sampleTable(results: readonly SampleResult[]): string {
  const table = new Table({
    head: ['order', 'workflow', 'decision', 'action', 'time'],
    colAligns: ['left', 'left', 'left', 'left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  for (const { orderId, workflow, decision, action, tookMs } of results) {
    table.push([orderId, workflow, decision, action, `${tookMs.toFixed(0)} ms`]);
  }
  return table.toString();
}

/** @returns where to look, and lines to paste */
export function welcome(stack: LocalStack): string {
  const lines = ['Open'];
  if (stack.temporalUiUrl !== undefined) lines.push(`  Temporal UI  ${stack.temporalUiUrl}`);
  else lines.push(`  Temporal     ${stack.temporalAddress}`);
  lines.push(`  Order queue  ${stack.apiUrl}/`);
  lines.push(`  API          ${stack.apiUrl}/docs`);
  if (stack.sandboxUrl !== undefined) lines.push(`  Sandbox      ${stack.sandboxUrl}/_sandbox/transactions`);
  if (stack.sandboxUrl !== undefined) lines.push('', ...tryIt(stack, stack.sandboxUrl));
  lines.push('', 'Stop with Ctrl-C; npm start goes on with the same orders.');
  return lines.join('\n');
}

function tryIt({ apiUrl, apiKey }: LocalStack, sandboxUrl: string): string[] {
  const json = `-H 'content-type: application/json'`;
  const key = apiKey === undefined ? '' : ` -H "authorization: Bearer $API_KEY"`;
  return [
    'Try it: screen an order that goes into review, decide the review in the sandbox, see it resolved',
    `  curl -s${key} ${json} ${apiUrl}/v1/orders/1001/screening -d '${ORDER}'`,
    `  curl -s ${json} ${sandboxUrl}/_sandbox/transactions/1001/decision -d '{"decision":"pass"}'`,
    `  curl -s${key} ${apiUrl}/v1/orders/1001`,
  ];
}

/** The sample orders in `examples/orders/`, by the name of their file: every decision, every integration workflow. */
const SAMPLES = ['pass', 'fail', 'review', 'fraudulent', 'error', 'pre-gateway'] as const;

const exampleSchema = z.looseObject({ workflow: z.string() });
const answerSchema = z.object({ decision: z.string(), action: z.string(), phase: z.string() });

/** One line of the table that `npm start` shows. */
export interface SampleResult {
  orderId: string;
  workflow: string;
  decision: string;
  action: string;
  /** Milliseconds from the request to its answer, as the order service sees it. */
  tookMs: number;
}

/**
 * Screens the sample orders through the API, as an order service does. Sent again they get the same answers, since the
 * orders are known.
 *
 * @param apiUrl address of the API, without a last slash
 * @returns the answers, and in words which orders have none: one that was sent with another content, at a start before an
 * upgrade, has its first answer for as long as the data folder lives
 */
export async function screenSampleOrders(
  apiUrl: string,
  apiKey?: string,
): Promise<{ results: SampleResult[]; failures: string[] }> {
  const results: SampleResult[] = [];
  const failures: string[] = [];
  for (const name of SAMPLES) {
    try {
      results.push(await screenSample(apiUrl, name, apiKey));
    } catch (error) {
      failures.push(error instanceof Error ? error.message : 'no reason is known');
    }
  }
  return { results, failures };
}

async function screenSample(apiUrl: string, name: string, apiKey: string | undefined): Promise<SampleResult> {
  const file = new URL(`../../examples/orders/${name}.json`, import.meta.url);
  const example = exampleSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const orderId = `sample-${name}`;
  const begin = performance.now();
  const answer = await post(`${apiUrl}/v1/orders/${orderId}/screening`, example, apiKey);
  const tookMs = performance.now() - begin;
  const { decision, action, phase } = answerSchema.parse(answer);
  if (phase === 'awaiting-gateway') {
    await post(
      `${apiUrl}/v1/orders/${orderId}/gateway-result`,
      { result: 'pass', authcode: 'A1B2C3' },
      apiKey,
    );
  }
  return { orderId, workflow: example.workflow, decision, action, tookMs };
}

async function post(url: string, body: unknown, apiKey: string | undefined): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`${new URL(url).pathname} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}
