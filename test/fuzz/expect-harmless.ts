import type { FastifyInstance, InjectOptions } from 'fastify';
import { expect } from 'vitest';
import { createLog } from '../../src/platform/log.ts';
import { problemSchema } from '../../src/server/api/problems.ts';
import { anApi, type TestedApi } from '../server/api/fake-order-screening.ts';
import { CANARY, CARD_CANARY } from './hostile.ts';

/** A problem document as the API documents it, and nothing beside. */
const problemDocument = problemSchema.strict();

/** Half of it on an idle machine, collecting garbage included; the rest is for a busy one. */
const MAX_CPU_MS = 2_000;

/** The API of the tests, with the lines that it logged since the last request. */
export async function aFuzzedApi(options: TestedApi = {}) {
  const lines: string[] = [];
  const log = createLog('fuzz', 'info', { write: (line) => void lines.push(line) });
  return { ...(await anApi({ ...options, log })), lines };
}

/** Sends a request and checks what holds for every answer: no fault of ours, at once, nothing of it shown. */
export async function ask({ app, lines }: { app: FastifyInstance; lines: string[] }, request: InjectOptions) {
  const before = process.cpuUsage();
  lines.length = 0;
  const response = await app.inject(request);
  // What the machine does beside doesn't count.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000, 'milliseconds of work').toBeLessThan(MAX_CPU_MS);
  expect(response.statusCode).toBeLessThan(500);
  // The queue page answers people, by a page.
  const isPage = String(response.headers['content-type']).startsWith('text/html');
  if (response.statusCode >= 300 && !isPage) expectProblem(response);
  // An order's id is logged once it is one, and so is who asks and why; that each is one is a test of its own.
  const logged = lines.join('').replaceAll(/"(?:orderId|actor|because)":"(?:[^"\\]|\\.)*"/g, '');
  const shown = response.body + JSON.stringify(response.headers) + logged;
  for (const canary of [CANARY, CARD_CANARY]) expect(shown).not.toContain(canary);
  return response;
}

interface Answer {
  statusCode: number;
  body: string;
  headers: Record<string, unknown>;
}

export function expectProblem({ statusCode, body, headers }: Answer): void {
  expect(headers['content-type']).toMatch(/^application\/problem\+json/);
  const problem = problemDocument.parse(JSON.parse(body));
  expect(problem.status).toBe(statusCode);
}
