import type { IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { serve } from './start-server.ts';

/** @returns the content of an event @throws Error if it isn't signed with the secret */
export async function verified(secret: string, request: IncomingMessage): Promise<unknown> {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return new Webhook(secret).verify((await request.toArray()).join(''), Object.fromEntries(headers));
}

/** Serves a receiver of events that knows one secret, until the test is over. @returns its address */
export function signedReceiver(secret: string): Promise<string> {
  return serve((request, response) => {
    const answer = (status: number) => () => response.writeHead(status).end();
    void verified(secret, request).then(answer(204), answer(401));
  });
}
