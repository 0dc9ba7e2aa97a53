/** What `npm start` prints: sample orders, addresses, and commands to try. */
import { readFile } from 'node:fs/promises';
import Table from 'cli-table3';
import { z } from 'zod';
import { EXAMPLE_PAYMENT } from '../contract/example-transaction.ts';
import type { LocalStack } from './local-stack.ts';

/** Files in `examples/orders/`: every decision and every integration workflow. */
const SAMPLES = ['pass', 'fail', 'review', 'fraudulent', 'error', 'pre-gateway'];

const exampleSchema = z.looseObject({ workflow: z.string() });
const answerSchema = z.object({ decision: z.string(), action: z.string(), phase: z.string() });

type Api = Pick<LocalStack, 'apiUrl' | 'apiKey'>;

/**
 * Screens the sample orders through the API, as an order service does, and returns a table of the answers. At a later start
 * the same requests get the same answers. A sample may fail: after an upgrade its content may differ from the earlier order's.
 */
export async function screenSampleOrders(api: Api): Promise<string> {
  const table = new Table({
    head: ['order', 'workflow', 'decision', 'action', 'time'],
    colAligns: ['left', 'left', 'left', 'left', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const failures: string[] = [];
  for (const name of SAMPLES) {
    try {
      table.push(await screenSample(api, name));
    } catch (error) {
      failures.push(`Not screened: ${error instanceof Error ? error.message : name}`);
    }
  }
  return ['Sample orders', table.toString(), ...failures].join('\n');
}

async function screenSample(api: Api, name: string): Promise<string[]> {
  const file = new URL(`../../examples/orders/${name}.json`, import.meta.url);
  const example = exampleSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const order = `sample-${name}`;
  const begin = performance.now();
  const answer = await post(api, `/v1/orders/${order}/screening`, example);
  const took = performance.now() - begin;
  const { decision, action, phase } = answerSchema.parse(answer);
  if (phase === 'awaiting-gateway') {
    await post(api, `/v1/orders/${order}/gateway-result`, { result: 'pass', authcode: 'A1B2C3' });
  }
  return [order, example.workflow, decision, action, `${took.toFixed(0)} ms`];
}

async function post({ apiUrl, apiKey }: Api, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${apiUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
  return response.json();
}

const ORDER = JSON.stringify({
  transaction: {
    amount: '249.00',
    customer: { email: 'review@example.com' },
    ...EXAMPLE_PAYMENT,
  },
});

/** Returns the addresses to open, and commands to paste. */
export function welcome({ apiUrl, apiKey, temporalAddress, temporalUiUrl, sandboxUrl }: LocalStack): string {
  const json = `-H 'content-type: application/json'`;
  const key = apiKey === undefined ? '' : ` -H "authorization: Bearer $API_KEY"`;
  const sandbox = `${sandboxUrl}/_sandbox/transactions`;
  return [
    'Open',
    temporalUiUrl === undefined ? `  Temporal     ${temporalAddress}` : `  Temporal UI  ${temporalUiUrl}`,
    `  Order queue  ${apiUrl}/`,
    `  API          ${apiUrl}/docs`,
    ...(sandboxUrl === undefined
      ? []
      : [
          `  Sandbox      ${sandbox}`,
          '',
          'Try it: screen an order that goes into review, decide the review in the sandbox, and read the order',
          `  curl -s${key} ${json} ${apiUrl}/v1/orders/1001/screening -d '${ORDER}'`,
          `  curl -s ${json} ${sandbox}/1001/decision -d '{"decision":"pass"}'`,
          // The decision arrives by a webhook and a read.
          `  sleep 1; curl -s${key} ${apiUrl}/v1/orders/1001`,
        ]),
    '',
    'Stop with Ctrl-C. The next npm start continues with the same orders.',
  ].join('\n');
}
