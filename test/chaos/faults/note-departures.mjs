/**
 * Preloaded into the workers of a run, their threads included: notes when each request to the screening service left its process, what
 * it carried, and when and whether it was answered. The sandbox may be busy when a request arrives, and can't say what its sender heard.
 * `departures.ts` reads the file. Each line is written at once: nothing is lost when the process is killed.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { threadId } from 'node:worker_threads';

const file = process.env.CHAOS_DEPARTURES ?? '';
const bodies = new WeakMap();
const answered = new WeakSet();
let count = 0;

for (const name of ['write', 'end']) {
  const original = http.OutgoingMessage.prototype[name];
  http.OutgoingMessage.prototype[name] = function (chunk, ...others) {
    const text =
      typeof chunk === 'string' || chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : '';
    if (this instanceof http.ClientRequest) bodies.set(this, (bodies.get(this) ?? '') + text);
    return original.call(this, chunk, ...others);
  };
}

const note = (line) => appendFileSync(file, `${JSON.stringify(line)}\n`);

subscribe('http.client.request.start', ({ request }) => {
  if (!/^\/(test|portal)/.test(request.path)) return;
  count += 1;
  const id = `${process.pid}-${threadId}-${count}`;
  const leave = (socket) => {
    const left = () => note({ id, port: socket.localPort, at: Date.now(), ...carriedBy(request) });
    if (socket.connecting) socket.once('connect', left);
    else left();
  };
  if (request.socket === null) request.once('socket', leave);
  else leave(request.socket);
  request.once('close', () => note({ id, endedAt: Date.now(), answered: answered.has(request) }));
});
subscribe('http.client.response.finish', ({ request }) => answered.add(request));

/** What tells attempts, gateway results and customer codes apart; no card data. */
function carriedBy(request) {
  const body = bodies.get(request);
  if (!body) return {};
  const { amount, customer_code: customerCode, ...others } = JSON.parse(body);
  return {
    amount: amount && Number(amount),
    customerCode,
    result: (others['gateway-response'] ?? others.gatewayResponse)?.result,
  };
}
