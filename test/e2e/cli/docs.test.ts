/** Every block of code in the pages is run as a reader would, beside one `npm start`; or it is listed with the reason. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type CodeBlock, codeBlocksOf, type NotRun, planOf } from '../../support/code-blocks.ts';
import { eventually } from '../../support/index.ts';
import { pagesOf, ROOT } from '../../support/pages.ts';
import { contractOf } from '../support.ts';
import { type DocsStack, FIRST_START_MS, masked, startDocsStack } from './docs-support.ts';

/** What is run, in this order: a later page may use what an earlier one made. */
const FIRST = ['examples/order-service/README.md', 'README.md', 'docs/cli.md'];

const notRun = (page: string, because: string, ...blocks: string[]): NotRun[] =>
  blocks.map((has) => ({ page, has, because }));

const COMPOSE = 'there may be no container engine: the file is checked by test/deploy/compose.test.ts';
const START = 'test/e2e/start.test.ts, and the stack of this test';
const TEST = 'what runs this test';
const REPAIR = 'test/e2e/cli/repair.test.ts';
const NOT_RUN = [
  ...notRun('README.md', START, 'npm ci && npm start'),
  ...notRun('README.md', TEST, 'npm ci && npm test'),
  ...notRun('CONTRIBUTING.md', START, 'npm start'),
  ...notRun('CONTRIBUTING.md', TEST, 'npm test'),
  ...notRun('examples/order-service/README.md', START, 'npm start'),
  ...notRun('docs/calling.md', 'test/package/consumer.test.ts', 'npm run pack'),
  ...notRun('docs/operations.md', COMPOSE, 'docker compose up -d --build'),
  ...notRun('docs/operations.md', COMPOSE, 'docker compose exec postgresql', 'docker compose kill worker'),
  ...notRun('docs/operations.md', `${COMPOSE}; test/production/ does the same`, 'export WORKER_BUILD_ID'),
  ...notRun('docs/operations.md', REPAIR, 'order-screening doctor', 'order-screening repair 1001'),
  ...notRun('docs/operations.md', REPAIR, 'order-screening adopt --file orders.csv'),
  ...notRun('docs/operations.md', 'test/dev/server/setup-script.test.ts', 'npm run setup:temporal'),
];

/** A command that goes on until the end. */
const SERVES = { has: 'examples/order-service/order-service.ts', ready: /is listening/ };

/** What has to happen before a block, as the words around it tell. */
const BEFORE: { page: string; has: string; run: string }[] = [
  { page: 'README.md', has: 'npx order-screening list', run: 'eval "$WELCOME"' },
];

/**
 * What a block must write; `again`: its last line, asked until it does. Without an entry: nothing that is an error.
 */
const WRITES: { page: string; has: string; output: RegExp; again?: true }[] = [
  { page: 'examples/order-service/README.md', has: 'orders/1005', output: /"captured"/, again: true },
  { page: 'README.md', has: 'orders/1002', output: /"decision":"pass","action":"proceed"/ },
  { page: 'docs/cli.md', has: 'action=', output: /^hold$/m },
  { page: 'docs/encryption.md', has: 'openssl', output: /^k1:.{44}$/m },
  { page: 'docs/encryption.md', has: 'workflow show', output: /orderId: 1001/ },
  { page: 'docs/calling.md', has: '2101/screening', output: /"action":"hold"/ },
  { page: 'docs/calling.md', has: 'cancel-2101', output: /"status":"done"[\s\S]*"orders":\[/ },
  { page: 'docs/calling.md', has: '2102/gateway-result', output: /"result":"pass"/ },
  { page: 'docs/calling.md', has: 'card-refs', output: /"cardRef":"/ },
];

/** The page with samples in TypeScript, and what they write, all together. */
const WITH_TYPESCRIPT = 'docs/calling.md';
const TYPESCRIPT_WRITES = [
  'pass proceed nothing to tell the customer',
  '2 pass',
  'done canceled',
  'canceled',
  'review proceed',
  "invalid-request [ 'transaction.amount' ]",
  '',
].join('\n');

/** What a sample of JSON is: an answer of the API, a type of the client library, or JSON only. */
const JSON_IS: { page: string; has: string; answer?: string; event?: true }[] = [
  { page: 'README.md', has: '"orderId":"1002"', answer: '/v1/orders/1002/screening' },
  { page: 'docs/calling.md', has: 'order.review_resolved', event: true },
  { page: 'docs/security.md', has: '"sha256"' },
];

const pages = pagesOf(FIRST);
const blocks = pages.flatMap((page) => codeBlocksOf(page, readFileSync(ROOT + page, 'utf8')));
const looked = ['sh', 'console', 'ts', 'json', 'yaml', 'text', 'mermaid', 'diff'];
const plan = planOf(blocks, looked, NOT_RUN);
const inPlan = (language: string) => plan.run.filter((block) => block.language === language);
const entry = <T extends { page: string; has: string }>(entries: readonly T[], { page, text }: CodeBlock) =>
  entries.find((one) => one.page === page && text.includes(one.has));

let stack: DocsStack;

beforeAll(async () => {
  stack = await startDocsStack();
}, FIRST_START_MS);
afterAll(() => stack?.stop());

it('every block is run, or listed with the reason why not, and no listing is stale', () => {
  expect(plan.faults).toEqual([]);
  const all = [...BEFORE, ...WRITES, ...JSON_IS];
  expect(
    all.filter(({ page, has }) => !blocks.some((one) => one.page === page && one.text.includes(has))),
  ).toEqual([]);
});

describe('commands', () => {
  it.each(
    plan.run
      .filter(({ language }) => language === 'sh' || language === 'console')
      .map((block) => [`${block.page}:${block.line}`, block] as const),
  )('%s', async (_where, block) => {
    const before = entry(BEFORE, block);
    if (before !== undefined) await stack.run(before.run);
    if (block.text.includes(SERVES.has)) return stack.serve(block.text, SERVES.ready);
    if (block.language === 'console') return expectAsShown(block);
    const wanted = entry(WRITES, block);
    const first = await stack.run(block.text);
    if (wanted === undefined) {
      expect(first).not.toMatch(/\/problems\/|"errors":\s*\[/i);
      return;
    }
    if (wanted.again !== true) return expect(first).toMatch(wanted.output);
    const last = block.text.split('\n').at(-1) ?? '';
    await eventually(async () => expect(await stack.run(last)).toMatch(wanted.output));
  });

  /** Runs each line after `$`; together they must write what the page shows, but for times, ids and numbers of things. */
  async function expectAsShown(block: CodeBlock): Promise<void> {
    const lines = block.text.split('\n');
    const command = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2));
    const shown = stack.local(lines.filter((line) => !line.startsWith('$ ')).join('\n'));
    await eventually(
      async () => {
        const output = await stack.run(command.join('\n'), { asShown: true });
        expect(masked(output)).toBe(masked(shown));
      },
      { timeoutMs: 20_000 },
    );
  }
});

describe('samples', () => {
  /** All of them, which must stand on one page. */
  const typescript = () => {
    expect(new Set(inPlan('ts').map(({ page }) => page))).toEqual(new Set([WITH_TYPESCRIPT]));
    return inPlan('ts')
      .map(({ text }) => text)
      .join('\n');
  };

  it('in TypeScript, and an event, fit the code', async () => {
    const event = inPlan('json').find((block) => entry(JSON_IS, block)?.event)?.text;
    const typed = `import type { OrderEvent } from './src/contract/messages.ts';
      export const sample: Omit<OrderEvent, 'id'> = ${event};`;
    expect(await stack.typeCheck({ samples: typescript(), event: typed })).toBe('');
  });

  it('in TypeScript run', async () => {
    expect(await stack.runTypeScript(typescript())).toBe(TYPESCRIPT_WRITES);
  });

  it('in JSON are what they are said to be', async () => {
    const contract = await contractOf(stack.apiUrl);
    for (const block of inPlan('json')) {
      const body = JSON.stringify(JSON.parse(block.text));
      const is = entry(JSON_IS, block);
      expect(is, `${block.page}:${block.line} is in no table`).toBeDefined();
      const reply = { status: 200, headers: { 'content-type': 'application/json' }, body };
      if (is?.answer !== undefined) contract.check({ method: 'post', url: is.answer, ...reply });
    }
  });

  it('in YAML can be read', () => {
    for (const { text } of inPlan('yaml')) expect(() => parseYaml(text)).not.toThrow();
  });
});

it('commands of docker compose name services that are there', () => {
  const compose = parseYaml(readFileSync(`${ROOT}docker-compose.yml`, 'utf8')) as { services: object };
  const services = new RegExp(` (${Object.keys(compose.services).join('|')})( |$)`);
  const lines = blocks.flatMap(({ text }) => text.match(/.*compose (exec|run) .*/g) ?? []);
  expect(lines.length).toBeGreaterThan(2);
  for (const line of lines) expect(line).toMatch(services);
});
