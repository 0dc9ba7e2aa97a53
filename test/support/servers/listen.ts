import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Accepts connections on a free port of loopback until the test is over. @returns the port */
export async function listen(onConnection: (socket: Socket) => void = () => undefined): Promise<number> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return Object(server.address()).port;
}
