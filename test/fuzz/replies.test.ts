import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DECISIONS } from '../../src/contract/words.ts';
import type { Reply } from '../../src/screening-service/exchange.ts';
import { ScreeningError } from '../../src/screening-service/index.ts';
import {
  readChargebackReply,
  readGatewayReply,
  readPortalReply,
  readTransactionResponse,
} from '../../src/screening-service/replies.ts';
import { hostileText, mutated, PATIENCE_MS, runs } from './hostile.ts';

const KEY = 'key-of-the-integration-77';
const CARD = '4111111111111111';
const secrets = [KEY, CARD, '123'];
/** What a service, or somebody in between, might repeat of a request. */
const leak = `card ${CARD}, key ${KEY}`;

const anInsight = { name: 'n', description: 'd', kind: 'k', impact: 'low' };
const aTransactionReply = {
  id: '3f2c1a5e-8d4b-4c6f-9a7e-2b1d0c9f8e7a',
  decision: 'fail',
  message: leak,
  account_mode: 'test',
  passiveMode: false,
  sub_status: 's',
  insights: { risk: { 1: anInsight }, trust: { 1: anInsight }, neutral: {}, recommendation: {} },
};
const aPortalReply = {
  code: 200,
  message: leak,
  chargeback: { reason_code: '4853', due_date: '2026-04-01' },
};

/** Valid JSON that many parsers can't walk by recursion. */
const DEEP = [
  `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
  `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
];

function replyOf(body: object): fc.Arbitrary<Reply> {
  const json = (sent: object) => mutated(sent).map((changed) => JSON.stringify(changed));
  return fc.record({
    status: fc.constantFrom(200, 200, 200, 201, 204, 301, 400, 403, 404, 408, 429, 500, 503),
    text: fc.oneof(
      { weight: 10, arbitrary: json(body) },
      json({ Errors: [leak], message: leak }),
      hostileText,
      fc.constantFrom('', 'null', ...DEEP),
    ),
  });
}

type Reader = (reply: Reply, context: { operation: 'status'; secrets: string[] }) => unknown;

function expectNoSecret(kept: unknown): void {
  const text = JSON.stringify(kept);
  expect(text).not.toContain(KEY);
  expect(text).not.toContain(CARD);
}

const taken: Reader = (reply, context) => [readGatewayReply(reply, context)];
const expectDone = ({ status }: Reply, answer: unknown) => {
  expect(status).toBe(200);
  expect(answer).toMatchObject({ code: 200 });
};

it.each<[what: string, good: object, reader: Reader, expectRead: (reply: Reply, answer: unknown) => void]>([
  [
    'a decision with an id',
    aTransactionReply,
    readTransactionResponse,
    ({ status }, answer) => {
      expect(status).toBeLessThan(300);
      const id = expect.stringMatching(/^[0-9a-f-]{36}$/i);
      expect(answer).toMatchObject({ id, decision: expect.toBeOneOf([...DECISIONS]) });
    },
  ],
  ['a done portal action', aPortalReply, readPortalReply, expectDone],
  ['a done chargeback', aPortalReply, readChargebackReply, expectDone],
  [
    'a gateway result that it has',
    { Status: 'OK' },
    taken,
    ({ text }) => expect(text).toMatch(/"[Ss]tatus":"OK"/),
  ],
])(
  'whatever the service answers is read as %s, or an error without secrets',
  { timeout: PATIENCE_MS },
  async (_what, good, reader, expectRead) => {
    await fc.assert(
      fc.property(replyOf(good), (reply) => {
        try {
          const answer = reader(reply, { operation: 'status', secrets });
          expectRead(reply, answer);
          expectNoSecret(answer);
        } catch (error) {
          if (!(error instanceof ScreeningError)) throw error;
          expectNoSecret({ ...error, message: error.message });
          for (const word of error.words ?? []) expect(word.length).toBeLessThanOrEqual(300);
        }
      }),
      runs(400),
    );
  },
);
