import Table from 'cli-table3';
import type { LocalStack } from './local-stack.ts';
import type { SampleResult } from './sample-orders.ts';

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
