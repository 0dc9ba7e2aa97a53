/** Ports of loopback: whether one is free, and a free one. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { errorCode } from '../config/values.ts';

/** Below the ephemeral port range, from which an outgoing connection could take the port before the server listens. */
const FIRST_PORT = 20_000;
const END_OF_PORTS = 32_000;

/** Returns a port on loopback that no server listens on, and that no other call returns while this process runs. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    try {
      await reserve(port);
      await listenOnce(port);
      return port;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/** Holds the UDP port of the same number, which nothing here uses, until this process ends: other processes may choose ports as well. */
async function reserve(port: number): Promise<void> {
  const socket = createSocket('udp4').unref();
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  await once(socket, 'listening');
}

/**
 * Checks that a server can listen on a port on loopback.
 *
 * @param variable the environment variable that sets the port
 * @throws Error naming the port and the variable
 */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  await listenOnce(port).catch((error: unknown) => {
    const code = errorCode(error);
    const problem =
      code === 'EADDRINUSE'
        ? 'is in use by another program. Stop it, or set'
        : `can't be used (${code}). Set`;
    throw new Error(`Port ${port} ${problem} ${variable} to another port.`, { cause: error });
  });
}

export function isPortFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}
