/** A receiver of events that checks their signatures. */
import { createServer } from 'node:http';
import { startServer, verified } from '../support/index.ts';

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
  const server = createServer(async (request, response) => {
    if (refusing) {
      request.resume();
      const headers = refusing === 'for an hour' ? { 'retry-after': '3600' } : {};
      setTimeout(() => response.writeHead(503, headers).end(), refusing === 'late' ? 11_000 : 0);
      return;
    }
    const payload = (await verified(secret, request)) as Omit<ReceivedEvent, 'id'>;
    events.push({ id: String(request.headers['webhook-id']), ...payload });
    response.writeHead(204).end();
  });
  const { url, close } = await startServer(server);
  return {
    url: `${url}/events`,
    events,
    refuse: (refuse: typeof refusing) => {
      refusing = refuse;
    },
    close,
  };
}
