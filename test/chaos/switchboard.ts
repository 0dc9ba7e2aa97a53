import { createServer } from 'node:http';

export interface Switchboard {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Sends each webhook of the sandbox to its own integration: the real provider has an account, and an address for
 * webhooks, for each. What the receiver answers is passed back; no answer is a broken connection.
 * @param target where a webhook for this invoice number goes
 */
export async function startSwitchboard(target: (invoice: string) => string): Promise<Switchboard> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const invoice = /S\d+N\d+/.exec(body)?.[0] ?? '';
      try {
        const answer = await fetch(target(invoice), {
          method: 'POST',
          body,
          signal: AbortSignal.timeout(9_000),
        });
        await answer.arrayBuffer();
        response.writeHead(answer.status).end();
      } catch {
        response.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
