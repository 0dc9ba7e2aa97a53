/** The merchant's events receiver, and the address to which the sandbox sends webhooks. */
import { type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { BookedArrival } from '../../books/books.ts';
import { Dice } from '../../simulation/random.ts';
import { eventually } from '../../support/index.ts';
import { weighted } from '../plan/plan.ts';

const payloadSchema = z.looseObject({
  type: z.string(),
  orderId: z.string(),
  integration: z.string(),
  sequence: z.number(),
  /** An event that doesn't come from the order itself (sequence 0) has only `attention`. */
  data: z.looseObject({
    decision: z.string().optional(),
    action: z.string().optional(),
    attempt: z.number().optional(),
    transactionId: z.string().optional(),
  }),
});

export interface Arrival extends BookedArrival {
  event: z.infer<typeof payloadSchema> & { id: string };
}

export async function startReceiver(secret: string, seed: number) {
  const webhook = new Webhook(secret);
  const dice = new Dice(seed);
  const arrivals: Arrival[] = [];
  /** Ids of requests whose signature or content was wrong. */
  const wrong: string[] = [];
  const server = await listen((request, reply) => {
    if (receiver.mood === 'away') return breakOff(reply);
    const id = String(request.headers['webhook-id']);
    const payload = verified(webhook, request);
    if (payload === undefined) {
      wrong.push(id);
      return reply.code(401).send();
    }
    const behavior =
      receiver.mood === 'calm' ? 'taken' : weighted(dice, { taken: 92, refused: 6, hanging: 2 });
    arrivals.push({ event: { ...payload, id }, at: Date.now(), taken: behavior === 'taken' });
    if (behavior === 'hanging') return reply.hijack();
    return reply.code(behavior === 'taken' ? 204 : 500).send();
  });
  const receiver = {
    ...server,
    arrivals,
    wrong,
    /** `moody`: some requests get 500 or no answer. `away`: each connection breaks. `calm`: every event is accepted. */
    mood: 'moody' as 'moody' | 'away' | 'calm',
    /** @returns whether an event of the order holds within that time */
    waitFor: (orderId: string, holds: (arrival: Arrival) => boolean, timeoutMs: number): Promise<boolean> =>
      eventually(() => arrivals.some((one) => one.event.orderId === orderId && holds(one)), {
        timeoutMs,
      }).catch(() => false),
  };
  return receiver;
}

function verified(webhook: Webhook, { body, headers }: FastifyRequest) {
  try {
    const signed = headers as Record<string, string>;
    return payloadSchema.parse(webhook.verify(String(body), signed));
  } catch {
    return undefined;
  }
}

/**
 * Passes each webhook of the sandbox to its own integration: the real provider has an account, and an address for webhooks, for each.
 * Without an answer the connection breaks.
 * @param target where a webhook for this invoice number goes
 */
export function startSwitchboard(target: (invoice: string) => string) {
  return listen(async ({ body }, reply) => {
    const [invoice = ''] = /S\d+N\d+/.exec(String(body)) ?? [];
    const webhook = { method: 'POST', body: String(body), signal: AbortSignal.timeout(9_000) };
    const answer = await fetch(target(invoice), webhook).catch(() => undefined);
    return answer === undefined ? breakOff(reply) : reply.code(answer.status).send(await answer.text());
  });
}

function breakOff(reply: FastifyReply): FastifyReply {
  reply.raw.destroy();
  return reply.hijack();
}

/** Listens on loopback; each body is read as text. */
async function listen(
  handle: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>,
): Promise<{ url: string; close(): Promise<void> }> {
  const app = fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.post('/', handle);
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
}
