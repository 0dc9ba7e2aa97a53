/** Takes the events of all orders and counts them. */
import { createServer } from 'node:http';

export interface EventsReceiver {
  url: string;
  secret: string;
  /** How many events have arrived. */
  count: () => number;
  close: () => Promise<void>;
}

export async function startEventsReceiver(): Promise<EventsReceiver> {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      received += 1;
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the events receiver has no port');
  return {
    url: `http://127.0.0.1:${address.port}/events`,
    secret: `whsec_${Buffer.from('a secret of the bench’s receiver').toString('base64')}`,
    count: () => received,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
