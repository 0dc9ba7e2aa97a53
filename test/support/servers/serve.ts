import { createServer, type RequestListener } from 'node:http';
import { onTestFinished } from 'vitest';

/** Serves HTTP on a free port until the test is over. @returns the address */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${Object(server.address()).port}`;
}
