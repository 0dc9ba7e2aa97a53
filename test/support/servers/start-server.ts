import { once } from 'node:events';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a server on a free port of loopback. */
export async function startServer(server: HttpServer | Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const port: number = Object(server.address()).port;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close(): Promise<void> {
      if ('closeAllConnections' in server) server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Serves HTTP on a free port until the test is over. @returns the address */
export async function serve(listener: RequestListener): Promise<string> {
  const { url, close } = await startServer(createServer(listener));
  onTestFinished(() => void close());
  return url;
}

/** Accepts connections on a free port of loopback until the test is over. @returns the port */
export async function listen(onConnection: (socket: Socket) => void = () => undefined): Promise<number> {
  const { port, close } = await startServer(createTcpServer(onConnection));
  onTestFinished(() => void close());
  return port;
}
