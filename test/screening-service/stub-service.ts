import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { startServer } from '../support/index.ts';

/** A request as the stub saw it. */
type Seen = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string };

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown;

/** An HTTP server on a free port that answers every request with `answer`, once it has read it. */
export async function stubService() {
  const seen: Seen[] = [];
  let answer: Answer = (response) => response.end();
  let connections = 0;
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: (await request.toArray()).join('') });
    answer(response, request);
  });
  server.on('connection', () => {
    connections += 1;
  });
  return {
    ...(await startServer(server)),
    seen,
    connections: () => connections,
    answerWith(next: Answer) {
      answer = next;
    },
    answerJson(status: number, body: unknown, headers: Record<string, string> = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const type = { 'content-type': 'application/json', ...headers };
      answer = (response) => response.writeHead(status, type).end(text);
    },
  };
}
