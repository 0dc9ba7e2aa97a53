import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { errorCode } from '../error-code.ts';

/** Below what systems give to outgoing connections: one of those could have the port before it is listened on. */
const FIRST_PORT = 20_000;
const END_OF_PORTS = 32_000;

/** A port on loopback that nobody listens on right now, and that no outgoing connection is given. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    try {
      await listenOnce(port);
      return port;
    } catch (error) {
      if (errorCode(error) !== 'EADDRINUSE') throw error;
    }
  }
}

/**
 * Checks that a port on loopback can be listened on.
 *
 * @param variable the environment variable that changes the port, named in the error
 * @throws Error naming the port and the variable, when another process has it
 */
export async function assertPortFree(port: number, variable: string): Promise<void> {
  try {
    await listenOnce(port);
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is in use by another program. Stop it, or set ${variable} to another port.`,
      );
    }
    throw new Error(`Port ${port} cannot be used (${code}). Set ${variable} to another port.`);
  }
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => server.close(() => resolve()));
  });
}
