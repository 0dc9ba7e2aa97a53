/** A receiver of events that checks their signatures. */
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

export const EVENTS_SECRET = `whsec_${Buffer.from('a secret of the events receiver').toString('base64')}`;

export interface ReceivedEvent {
  id: string;
  type: string;
  orderId: string;
  integration: string;
  sequence: number;
  data: { phase: string; decision: string; action: string };
}

/** Starts a receiver of events that knows one secret. */
export async function startReceiver(secret = EVENTS_SECRET) {
  const events: ReceivedEvent[] = [];
  let refusing: boolean | 'late' | 'for an hour' = false;
  const webhook = new Webhook(secret);
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (refusing) {
      const headers = refusing === 'for an hour' ? { 'retry-after': '3600' } : {};
      setTimeout(() => response.writeHead(503, headers).end(), refusing === 'late' ? 11_000 : 0);
      return;
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const payload = webhook.verify(body, headers) as Omit<ReceivedEvent, 'id'>;
    events.push({ id: headers['webhook-id'] ?? '', ...payload });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}/events`,
    events,
    refuse: (refuse: typeof refusing) => {
      refusing = refuse;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
