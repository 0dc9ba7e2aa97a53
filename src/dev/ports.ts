import { createServer } from 'node:net';

/** A port on loopback that nobody listens on right now. */
export function freePort(): Promise<number> {
  return listenOnce(0);
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
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'EADDRINUSE') {
      throw new Error(
        `Port ${port} is in use by another program. Stop it, or set ${variable} to another port.`,
      );
    }
    throw new Error(`Port ${port} cannot be used (${error.code}). Set ${variable} to another port.`);
  }
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port was given'));
        else resolve(address.port);
      });
    });
  });
}
