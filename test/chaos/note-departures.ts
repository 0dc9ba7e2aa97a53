/**
 * Preloaded into the workers of a run: writes down when each cancel left its process. The sandbox, which may be busy or wait for a core,
 * reads it later, and so it can't say whether a cancel was sent late.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { departuresFile } from './departures.ts';

const file = departuresFile();

function note(socket: Socket): void {
  const write = (): void => appendFileSync(file, `${socket.localPort} ${Date.now()}\n`);
  if (socket.connecting) socket.once('connect', write);
  else write();
}

subscribe('http.client.request.start', (message) => {
  const { request } = message as { request: ClientRequest };
  if (!request.path.endsWith('/cancel-transaction')) return;
  if (request.socket === null) request.once('socket', note);
  else note(request.socket);
});
