/** Accepts the events of all orders. */
import { once } from 'node:events';
import { createServer } from 'node:http';

export interface EventsReceiver {
  url: string;
  secret: string;
  close: () => Promise<void>;
}

export async function startEventsReceiver(): Promise<EventsReceiver> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the events receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/events`,
    secret: `whsec_${Buffer.from('a secret of the bench’s receiver').toString('base64')}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
