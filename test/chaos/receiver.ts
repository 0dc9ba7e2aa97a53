/** An events receiver as a merchant has one: it checks signatures, and it is not always well. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import type { BookedArrival } from '../books/books.ts';
import { Dice } from './random.ts';

const payloadSchema = z.looseObject({
  type: z.string(),
  orderId: z.string(),
  integration: z.string(),
  sequence: z.number(),
  /** Only `attention` is in an event that comes from outside the order (sequence 0). */
  data: z.looseObject({
    decision: z.string().optional(),
    action: z.string().optional(),
    attempt: z.number().optional(),
    transactionId: z.string().optional(),
  }),
});

/** One arrival of an event, in order of arrival. */
export interface Arrival extends BookedArrival {
  event: z.infer<typeof payloadSchema> & { id: string };
}

export type Behavior = 'taken' | 'answered 500' | 'left hanging';

export interface Receiver {
  readonly url: string;
  readonly arrivals: Arrival[];
  /** Requests whose signature or shape was wrong. */
  readonly wrong: string[];
  readonly behaved: Record<Behavior, number>;
  /** From now on it takes everything. */
  calm(): void;
  /** Resolves when an event of the order holds, or `false` after `withinMs`. */
  waitFor(orderId: string, holds: (arrival: Arrival) => boolean, withinMs: number): Promise<boolean>;
  /** Goes away: refuses connections until `comeBack`. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the receiver on a port of its own, ill-tempered until it is told to be calm. */
export async function startReceiver(port: number, secret: string, seed: number): Promise<Receiver> {
  const webhook = new Webhook(secret);
  const dice = new Dice(seed, 'receiver');
  const arrivals: Arrival[] = [];
  const wrong: string[] = [];
  const behaved: Record<Behavior, number> = { taken: 0, 'answered 500': 0, 'left hanging': 0 };
  const waiting = new Set<(arrival: Arrival) => void>();
  let calm = false;
  let server: Server | undefined;

  const take = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const header = (name: string) => String(request.headers[name]);
    const id = header('webhook-id');
    const nth = arrivals.length;
    const payload = verified(webhook, body, {
      'webhook-id': id,
      'webhook-timestamp': header('webhook-timestamp'),
      'webhook-signature': header('webhook-signature'),
    });
    if (payload === undefined) {
      wrong.push(id);
      response.writeHead(401).end();
      return;
    }
    const behavior = behaviorFor(dice, `${id}|${nth}`, calm);
    behaved[behavior] += 1;
    const arrival = { event: { ...payload, id }, at: Date.now(), taken: behavior === 'taken' };
    arrivals.push(arrival);
    for (const look of waiting) look(arrival);
    if (behavior === 'taken') response.writeHead(204).end();
    else if (behavior === 'answered 500') response.writeHead(500).end();
  };

  const listen = async (): Promise<void> => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => take(request, response, Buffer.concat(chunks).toString('utf8')));
    });
    const opened = server;
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject);
      opened.listen(port, '127.0.0.1', () => resolve());
    });
  };
  const goAway = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    if (closing === undefined) return;
    closing.closeAllConnections();
    await new Promise<void>((resolve) => closing.close(() => resolve()));
  };
  await listen();
  return {
    url: `http://127.0.0.1:${port}/events`,
    arrivals,
    wrong,
    behaved,
    calm: () => {
      calm = true;
    },
    waitFor: (orderId, holds, withinMs) =>
      new Promise((resolve) => {
        const end = (found: boolean) => {
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        const look = (arrival: Arrival) => {
          if (arrival.event.orderId === orderId && holds(arrival)) end(true);
        };
        const timer = setTimeout(() => end(false), withinMs);
        waiting.add(look);
        for (const arrival of arrivals.filter(({ event }) => event.orderId === orderId)) look(arrival);
      }),
    goAway,
    comeBack: async () => {
      if (server === undefined) await listen();
    },
    close: goAway,
  };
}

function verified(webhook: Webhook, body: string, headers: Record<string, string>) {
  try {
    return payloadSchema.parse(webhook.verify(body, headers));
  } catch {
    return undefined;
  }
}

function behaviorFor(dice: Dice, label: string, calm: boolean): Behavior {
  if (calm) return 'taken';
  return dice.weighted<Behavior>(label, [
    ['taken', 92],
    ['answered 500', 6],
    ['left hanging', 2],
  ]);
}
