/**
 * The sandbox answers as the screening service's interface says: what an operation answers to an input, and the sentence that says so.
 * Which fields of a transaction are refused: test/screening-service/transaction/judged-alike.test.ts.
 */
import { expect, it } from 'vitest';
import { created, LIVE_KEY, portal, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const SCREENING = ['POST /transaction', 'POST /gateway_response'] as const;
const STATUS = ['GET /status', 'GET /status_by_url', 'GET /status_by_invoice'] as const;
const OF_TRANSACTION = ['/report-fraud', '/cancel-transaction', '/submit-chargeback'] as const;
const PORTAL = ['/customer-code', ...OF_TRANSACTION] as const;
type Operation = (typeof SCREENING | typeof STATUS)[number] | 'POST /' | `POST ${(typeof PORTAL)[number]}`;

/** A call about transaction `ID`, with the invoice number `A-1`, which the test account screened before. */
interface Row {
  /** The interface's words. */
  readonly says: string;
  readonly operation: Operation;
  /** The fields of the body, or the requested id or invoice number. */
  readonly input: Record<string, unknown> | string;
  readonly status: number;
  /** The whole body of the reply. */
  readonly reply: unknown;
  /** `test` by default. */
  readonly key?: 'test' | 'live' | 'wrong';
  /** The address of a screening operation: `live` with the live key, else `test`. */
  readonly base?: 'test' | 'live';
  /** What became of transaction `ID`: its decision (`pass` by default), and whether it is covered by chargeback protection. */
  readonly given?: { decision?: string; covered?: boolean };
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const NOBODY = '9d9d9d9d-1b2c-4d5e-8f90-0123456789ab';
const errors = (...texts: unknown[]) => ({ Errors: texts });
const matching = (text: RegExp) => expect.stringMatching(text);
/** The interface shows no text of these errors, so any text without the value will do. */
const NOT_SHOWN = { Errors: expect.arrayContaining([expect.any(String)]) };
const NOT_AUTHORIZED = errors('Not Authorized');
const NOT_FOUND = errors('Transaction Not Found');
const SCREENED = { id: matching(new RegExp(`^${UUID.source}$`)), decision: 'pass' };
const done = (more: object = {}) => ({ code: 200, message: expect.any(String), ...more });
/** The refusals of the portal actions are not shown: any code that is no 2xx. */
const refused = {
  code: expect.toSatisfy((code: unknown) => !/^2\d\d$/.test(String(code))),
  message: expect.any(String),
};

const creating = (
  says: string,
  changes: Record<string, unknown>,
  status: number,
  reply: unknown,
  key: Row['key'] = 'test',
): Row => ({ says, operation: 'POST /transaction', input: transaction(changes), status, reply, key });

const CARD = { cardNumber: '4111111111111111', expirationDate: '12/2099', cardCode: '123' };
const REAL = '4539578763621486';
const noCodes = { avsResultCode: undefined, cvvResultCode: undefined };
const paidWith = (card: object) => ({ ...noCodes, payment: { creditCard: { ...CARD, ...card } } });
const before = (payment: object) => ({
  ...{ gatewayType: 'pre-gateway', avsResultCode: 'U', cvvResultCode: 'U', payment },
});
const sample = {
  'nf-token': undefined,
  nfToken: TEST_KEY,
  currencyCode: 'USD',
  order: { orderType: 'upsell' },
};
const bound = 'a'.repeat(128);

const CREATE: Row[] = [
  creating('200: Transaction response, standard', {}, 200, SCREENED),
  { ...creating('Usage samples post to the root path', {}, 200, SCREENED), operation: 'POST /' },
  creating('Some usage samples send the key as `nfToken`', sample, 200, SCREENED),
  ...[undefined, null].map((billTo) =>
    creating('400: `billTo` has no value', { billTo }, 400, errors('Missing data, billTo field')),
  ),
  creating('The error names the field', { cardAttempts: 'two' }, 400, errors(matching(/^card_attempts: /))),
  creating('test card numbers are rejected with a live key', paidWith({}), 400, NOT_SHOWN, 'live'),
  creating('real card numbers are rejected with a test key', paidWith({ cardNumber: REAL }), 400, NOT_SHOWN),
  creating('Live: a real card number', paidWith({ cardNumber: REAL }), 200, SCREENED, 'live'),
  creating('Live: its check digit', paidWith({ cardNumber: '4539578763621487' }), 400, NOT_SHOWN, 'live'),
  creating('Test: a test card number', paidWith({}), 200, SCREENED),
  ...['cardNumber', 'expirationDate', 'cardCode'].map((field) => {
    const missing = errors(`Missing data, payment.creditCard.${field} field`);
    return creating('Required when AVS and CVV are missing', paidWith({ [field]: undefined }), 400, missing);
  }),
  creating('Required without a card', { ...noCodes, payment: undefined }, 400, {
    Errors: expect.arrayContaining(['Missing data, avsResultCode field']),
  }),
  ...[{ creditCard: { last4: '1111' } }, { creditCard: { ...CARD, cardCode: undefined } }, {}].map(
    (payment) => creating('Pre-gateway: full card data, beside codes too', before(payment), 400, NOT_SHOWN),
  ),
  creating('Pre-gateway: full card data', before({ creditCard: CARD }), 200, SCREENED),
  creating('travel: object', { travel: 'x' }, 400, NOT_SHOWN),
  creating('travel: object', { travel: { travelDate: '12/31/2099' } }, 200, SCREENED),
  creating('travel.destination: 128 characters', { travel: { destination: bound } }, 200, SCREENED),
  creating('travel.destination: 128 characters', { travel: { destination: `${bound}a` } }, 400, NOT_SHOWN),
  creating('Two spellings', { currency_code: 'USD', currencyCode: 'USD' }, 200, SCREENED),
  creating('Two spellings', { order: { order_type: '', orderType: 'upsell' } }, 400, NOT_SHOWN),
];

const reporting = (says: string, input: Record<string, unknown>, status: number, reply: unknown): Row => ({
  ...{ says, operation: 'POST /gateway_response', status, reply },
  input: { 'nf-token': TEST_KEY, ...input },
});
const NF_ID = matching(/empty or malformed.*id of the response to the initial transaction/);

const GATEWAY: Row[] = [
  reporting('gateway-response: not required', { 'nf-id': 'ID' }, 200, { Status: 'OK' }),
  reporting('gateway-response: object', { 'nf-id': 'ID', 'gateway-response': 'pass' }, 400, NOT_SHOWN),
  reporting('`nf-id` absent', {}, 400, errors('nf-id field is not defined.')),
  ...['', 'x', 7].map((id) => reporting('`nf-id` empty or malformed', { 'nf-id': id }, 400, errors(NF_ID))),
  reporting('no such transaction', { 'nf-id': NOBODY }, 404, NOT_FOUND),
  reporting('Two spellings', { 'nf-id': 'ID', nfId: NOBODY }, 400, NOT_SHOWN),
];

const reading = (says: string, operation: Operation, input: string, status: number, reply: unknown): Row => ({
  ...{ says, operation, input, status, reply },
});
const THIS = { id: 'ID', decision: 'pass' };

const READ: Row[] = [
  reading('transaction uuid or invoice number', 'GET /status', 'ID', 200, THIS),
  reading('transaction uuid or invoice number', 'GET /status', 'A-1', 200, THIS),
  reading('id returned on creation', 'GET /status_by_url', 'ID', 200, THIS),
  reading('`order.invoiceNumber` sent on creation', 'GET /status_by_invoice', 'A-1', 200, THIS),
  reading('no such transaction', 'GET /status', NOBODY, 404, NOT_FOUND),
  reading('no such transaction', 'GET /status_by_url', NOBODY, 404, NOT_FOUND),
  reading('no such transaction', 'GET /status_by_url', 'A-1', 404, NOT_FOUND),
  reading('no such transaction', 'GET /status_by_invoice', 'A-2', 404, NOT_FOUND),
  reading('must be sent without the `#`', 'GET /status_by_invoice', '#A-1', 404, NOT_FOUND),
  ...(['ID', 'A-1'] as const).flatMap((input) =>
    STATUS.map(
      (operation): Row => ({
        ...reading('no such transaction of the live account', operation, input, 404, NOT_FOUND),
        key: 'live',
      }),
    ),
  ),
];

const unauthorized = (input: Record<string, unknown>) =>
  SCREENING.map((operation) => ({
    ...creating('403: invalid `nf-token`', { billTo: undefined, ...input }, 403, NOT_AUTHORIZED),
    operation,
  }));

const WRONG_KEY: Row[] = [
  ...unauthorized({ 'nf-token': 'wrong' }),
  ...unauthorized({ 'nf-token': undefined }),
  // The key of the other mode.
  ...unauthorized({ 'nf-token': LIVE_KEY }),
  ...unauthorized({ 'nf-token': TEST_KEY }).map((row): Row => ({ ...row, base: 'live' })),
  ...STATUS.flatMap((operation): Row[] => {
    const row = reading('403: invalid `nf-token`', operation, 'ID', 403, NOT_AUTHORIZED);
    return [
      { ...row, key: 'wrong' },
      { ...row, key: 'live', base: 'test' },
    ];
  }),
  ...PORTAL.map(
    (path): Row => ({
      ...acting('An invalid key gives HTTP 403', path, {}, NOT_AUTHORIZED),
      ...{ status: 403, key: 'wrong' },
    }),
  ),
];

function acting(
  says: string,
  path: (typeof PORTAL)[number],
  input: Record<string, unknown>,
  reply: unknown,
  given: NonNullable<Row['given']> = {},
): Row {
  return { says, operation: `POST ${path}`, input, status: 200, reply, given };
}
const CHARGEBACK = { transaction_id: 'ID', reason_code: '10.4', due_date: '2030-01-31' };
const OPTIONAL = {
  ...{ notice_date: '2030-01-01', reference_number: 'R-1', carrier: 'Post', carrier_tracking_number: 'T-1' },
  ...{ notes: 'none', inquiry: 'false' },
};
const COVERED = 'only for transactions covered by chargeback protection';
const PASS_OR_FRAUDULENT = 'only for transactions whose current status is `pass` or `fraudulent`';
const missing = (fields: string) => ({ code: 400, message: `Missing or malformed: ${fields}` });
const UNKNOWN = { code: 404, message: 'Transaction Not Found' };

const ACTIONS: Row[] = [
  acting('200', '/customer-code', { customer_code: 'c', email: 'a@example.com' }, done()),
  acting('customer_code, email: required', '/customer-code', {}, missing('customer_code, email')),
  acting('customer_code: required', '/customer-code', { email: 'a@example.com' }, refused),
  acting('customer_code: required', '/customer-code', { customer_code: '', email: 'a@example.com' }, refused),
  acting('email: required', '/customer-code', { customer_code: 'c' }, refused),
  acting('email: email', '/customer-code', { customer_code: 'c', email: 'c' }, refused),
  ...OF_TRANSACTION.flatMap((path): Row[] => [
    acting(
      'transaction_id: required',
      path,
      { ...CHARGEBACK, transaction_id: '' },
      missing('transaction_id'),
    ),
    acting('no such transaction', path, { ...CHARGEBACK, transaction_id: NOBODY }, UNKNOWN),
    { ...acting('no such transaction of the live account', path, CHARGEBACK, UNKNOWN), key: 'live' },
  ]),
  acting('adds `chargeback`', '/submit-chargeback', CHARGEBACK, done({ chargeback: CHARGEBACK })),
  acting(
    'adds `chargeback`',
    '/submit-chargeback',
    { ...CHARGEBACK, ...OPTIONAL },
    done({ chargeback: { ...CHARGEBACK, ...OPTIONAL } }),
  ),
  acting(COVERED, '/submit-chargeback', CHARGEBACK, refused, { covered: false }),
  ...['fail', 'review', 'error'].map((decision) =>
    acting(PASS_OR_FRAUDULENT, '/submit-chargeback', CHARGEBACK, refused, { decision }),
  ),
  acting(PASS_OR_FRAUDULENT, '/submit-chargeback', CHARGEBACK, done({ chargeback: CHARGEBACK }), {
    decision: 'fraudulent',
  }),
  ...[
    ...[{ reason_code: undefined }, { reason_code: '' }, { due_date: undefined }, { due_date: '01/31/2030' }],
    ...[{ due_date: '' }, { notice_date: '2030' }, { inquiry: 'yes' }],
  ].map((changes) => acting('required', '/submit-chargeback', { ...CHARGEBACK, ...changes }, refused)),
];

const KEYS = { test: TEST_KEY, live: LIVE_KEY, wrong: 'wrong' };

/** The row about a transaction of this id. */
function about(id: string, row: Row): Row {
  const named = (value: unknown) => (value === 'ID' ? id : value);
  const fields = (of: object) =>
    Object.fromEntries(Object.entries(of).map(([name, one]) => [name, named(one)]));
  const input = typeof row.input === 'string' ? String(named(row.input)) : fields(row.input);
  const { chargeback, ...reply } = fields(Object(row.reply));
  return { ...row, input, reply: chargeback ? { ...reply, chargeback: fields(Object(chargeback)) } : reply };
}

const ROWS = [...CREATE, ...GATEWAY, ...READ, ...WRONG_KEY, ...ACTIONS];
it.each(ROWS.map((row) => [row.operation, row.says, row] as const))('%s: %s', async (_on, _says, row) => {
  const sandbox = await startSandbox();
  const { decision = 'pass', covered = true } = row.given ?? {};
  sandbox.control.setPortal({ covered });
  const id = await created(sandbox, transaction({ customer: { email: `${decision}@example.com` } }));

  const { operation, input, status, reply, key = 'test', base = key } = about(id, row);
  const [method = '', path = ''] = operation.split(' ');
  const address = base === 'live' ? sandbox.liveBaseUrl : sandbox.testBaseUrl;
  const call = () => {
    if (typeof input === 'string')
      return send(method, `${address}${path}/${KEYS[key]}/${encodeURIComponent(input)}`);
    if (/code|fraud|cancel|chargeback/.test(path))
      return portal(sandbox, path.slice(1), { nf_token: KEYS[key], ...input });
    return send(method, `${address}${path}`, key === 'live' ? { ...input, 'nf-token': LIVE_KEY } : input);
  };
  const answer = await call();
  expect([answer.status, answer.body]).toEqual([status, reply]);
  // A random id may contain the year by chance.
  expect(answer.text.replaceAll(UUID, 'ID')).not.toMatch(/4111111111111111|45395787636214|2099|sandbox-/);
  const { code = status } = answer.body;
  if (Math.max(status, code) < 300) return;
  const untouched = { id, gatewayResponses: [], canceledAt: null, fraudReports: [], chargebacks: [] };
  expect(sandbox.control.transactions()).toMatchObject([untouched]);
  const outcome = code === status ? { status } : { status, code };
  expect(sandbox.control.ledger()[1]).toMatchObject({ committed: false, outcome });
});

it.each<[path: string, body: string | undefined, type: string, status: number, error: string | RegExp]>([
  ['/', '{"cardNumber": 4111111111111111', 'application/json', 400, /JSON/],
  ['/', 'a=b', 'application/x-www-form-urlencoded', 415, /./],
  [`/state/${TEST_KEY}/1`, undefined, 'text/plain', 404, /./],
  [`/status/${TEST_KEY}/%E0`, undefined, 'text/plain', 400, 'Malformed address'],
  [`/status/${TEST_KEY}/${'x'.repeat(501)}`, undefined, 'text/plain', 414, 'Malformed address'],
])('%s with %j of type %s is a %i that repeats nothing', async (path, body, type, status, error) => {
  const { testBaseUrl } = await startSandbox();
  const headers = { 'content-type': type };
  const reply = await send(body === undefined ? 'GET' : 'POST', testBaseUrl + path, body, { headers });
  expect(reply).toMatchObject({ status, body: { Errors: [expect.stringMatching(error)] } });
  expect(reply.text).not.toMatch(/4111|sandbox-/);
});

it('of transactions with one invoice number, only the first is checked', async () => {
  const sandbox = await startSandbox();
  const numbered = (invoiceNumber: string) => created(sandbox, transaction({ order: { invoiceNumber } }));
  const odd = 'Ä 1/2?%';
  const [first] = [await numbered('#A-1'), await numbered('A-1')];
  for (const [invoiceNumber, id] of [
    ['A-1', first],
    [odd, await numbered(odd)],
  ] as const) {
    const url = `${sandbox.testBaseUrl}/status_by_invoice/${TEST_KEY}/${encodeURIComponent(invoiceNumber)}`;
    expect((await send('GET', url)).body).toEqual({ id, decision: 'pass' });
  }
});
