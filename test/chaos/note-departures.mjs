/**
 * Preloaded into the workers of a run, their threads included: writes down when each cancel left its process. The sandbox, which may be
 * busy or wait for a core, reads it later, and so it can't say whether a cancel was sent late. `departures.ts` reads what is written here.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

const file = process.env.CHAOS_DEPARTURES ?? '';

/** @param {import('node:net').Socket} socket */
function note(socket) {
  const write = () => appendFileSync(file, `${socket.localPort} ${Date.now()}\n`);
  if (socket.connecting) socket.once('connect', write);
  else write();
}

subscribe('http.client.request.start', ({ request }) => {
  if (!request.path.endsWith('/cancel-transaction')) return;
  if (request.socket === null) request.once('socket', note);
  else note(request.socket);
});
