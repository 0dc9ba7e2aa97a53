/**
 * Floods an API, as a process of its own: `node --import ./bin/typescript.mjs test/attacks/flood.ts <port> <kind> <connections> <key>`. It says
 * `flooding` once all its connections are there, floods until it is stopped, and says then what it was answered.
 */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { aTransaction } from '../fixtures/transactions.ts';

const MIB = 1024 * 1024;
/** As large as the API takes them. */
const MOST_BYTES = 256 * 1024;
const SCREENING = '/v1/orders/order-1/screening';
const JSON_TYPE = { 'content-type': 'application/json' };
/** So many connections are opened at a time: more than a server's backlog would be tried again a second later. */
const OPENED_AT_A_TIME = 100;
const DRIP_MS = 200;

type Headers = Record<string, string>;

/** What each connection sends, again as soon as it is answered. */
const BODIES: Record<string, { body: Buffer; headers?: Headers }> = {
  wide: { body: Buffer.from(`{"transaction":{"lineItems":[${'1,'.repeat(MOST_BYTES / 2 - 50)}1]}}`) },
  compressed: { body: gzipSync(Buffer.alloc(64 * MIB)), headers: { 'content-encoding': 'gzip' } },
  'largest checkouts': { body: Buffer.from(JSON.stringify({ transaction: largest() })) },
  'wrong keys': { body: Buffer.from('{}'), headers: { authorization: 'Bearer a-wrong-key-of-nobody' } },
};

const [port = '', kind = '', connections = '', key = ''] = process.argv.slice(2);
const answers = new Map<number, number>();
process.once('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(Object.fromEntries(answers))}\n`, () => process.exit(0));
});

const sending = BODIES[kind];
if (sending !== undefined) {
  const headers = { ...JSON_TYPE, authorization: `Bearer ${key}`, ...sending.headers };
  const agent = new Agent({ keepAlive: true });
  for (let count = 0; count < Number(connections); count += 1) sendAgain(agent, headers, sending.body);
} else await hold(kind === 'slow bodies');
console.log('flooding');

function sendAgain(agent: Agent, headers: Headers, body: Buffer): void {
  const again = () => setImmediate(() => sendAgain(agent, headers, body));
  const asked = request({ agent, port, host: '127.0.0.1', path: SCREENING, method: 'POST', headers });
  asked.on('response', (response) => {
    const { statusCode = 0 } = response;
    answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
    response.resume().once('close', again);
  });
  // A body that is refused by its head may meet a closed connection.
  asked.once('error', again);
  asked.end(body);
}

/** Opens connections and keeps them: without a word, or with bodies of which a byte comes now and then. */
async function hold(drip: boolean): Promise<void> {
  const head = `POST ${SCREENING} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n[`;
  for (let open = 0; open < Number(connections); open += OPENED_AT_A_TIME) {
    const opened = Array.from({ length: OPENED_AT_A_TIME }, async () => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      if (!drip) return;
      socket.write(head);
      setInterval(() => socket.writable && socket.write(' '), DRIP_MS);
    });
    await Promise.all(opened);
  }
}

/** A valid transaction of as many bytes as the API takes. */
function largest() {
  const words = '4111 1111 1112 '.repeat(8);
  const item = { sku: 'a', name: words, category: words, notes: words, price: 1, quantity: 1 };
  return aTransaction({ lineItems: Array.from({ length: 580 }, () => item) });
}
