/**
 * The sandbox answers as the screening service's interface says: what an operation answers to an input, and the sentence that says so.
 * Which fields of a transaction are refused: test/screening-service/transaction/judged-alike.test.ts.
 */
import { expect, it } from 'vitest';
import { created, LIVE_KEY, send, startSandbox, TEST_KEY, transaction } from './support.ts';

const CREATE = 'POST /transaction';
const GATEWAY = 'POST /gateway_response';
const SCREENING = [CREATE, GATEWAY] as const;
const STATUS = ['GET /status', 'GET /status_by_url', 'GET /status_by_invoice'] as const;
const OF_TRANSACTION = ['/report-fraud', '/cancel-transaction', '/submit-chargeback'] as const;
const PORTAL = ['/customer-code', ...OF_TRANSACTION] as const;
const LIVE = { key: 'live' } as const;
type Operation = (typeof SCREENING | typeof STATUS)[number] | 'POST /' | `POST ${(typeof PORTAL)[number]}`;

/** A call about transaction `ID`, with the invoice number `A-1`, which the test account screened before. */
type Row = [
  /** The interface's words. */
  says: string,
  operation: Operation,
  /** The fields of the body, beside a key and those of a valid transaction, or the requested id or invoice number. */
  input: Record<string, unknown> | string,
  status: number,
  /** The whole body of the reply. */
  reply: unknown,
  /** The key and the address are the test account's by default. `decision` and `covered` are what became of transaction `ID`. */
  more?: { key?: 'live' | 'wrong'; base?: 'test' | 'live'; decision?: string; covered?: boolean },
];

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

const CARD = { cardNumber: '4111111111111111', expirationDate: '12/2099', cardCode: '123' };
const REAL = '4539578763621486';
const noCodes = { avsResultCode: undefined, cvvResultCode: undefined };
const paidWith = (card: object) => ({ ...noCodes, payment: { creditCard: { ...CARD, ...card } } });
const before = (payment: object) => ({ gatewayType: 'pre-gateway', payment });
const sample = {
  'nf-token': undefined,
  nfToken: TEST_KEY,
  currencyCode: 'USD',
  order: { orderType: 'upsell' },
};
const bound = 'a'.repeat(128);

/** A create: the interface's words, the fields beside those of a valid transaction, and the key. */
type Create = [says: string, fields: Record<string, unknown>, more?: Row[5]];

const ACCEPTED: Create[] = [
  ['200: Transaction response, standard', {}],
  ['Some usage samples send the key as `nfToken`', sample],
  ['Live: a real card number', paidWith({ cardNumber: REAL }), LIVE],
  ['Test: a test card number', paidWith({})],
  ['Pre-gateway: full card data', before({ creditCard: CARD })],
  ['travel: object', { travel: { travelDate: '12/31/2099' } }],
  ['travel.destination: 128 characters', { travel: { destination: bound } }],
  ['Two spellings', { currency_code: 'USD', currencyCode: 'USD' }],
];

const REFUSED: Create[] = [
  ['test card numbers are rejected with a live key', paidWith({}), LIVE],
  ['real card numbers are rejected with a test key', paidWith({ cardNumber: REAL })],
  ['Live: its check digit', paidWith({ cardNumber: '4539578763621487' }), LIVE],
  ['Pre-gateway: full card data, beside codes too', before({ creditCard: { last4: '1111' } })],
  ['Pre-gateway: full card data', before({ creditCard: { ...CARD, cardCode: undefined } })],
  ['Pre-gateway: full card data', before({})],
  ['travel: object', { travel: 'x' }],
  ['travel.destination: 128 characters', { travel: { destination: `${bound}a` } }],
  ['Two spellings', { order: { order_type: '', orderType: 'upsell' } }],
];

const NO_BILL_TO = errors('Missing data, billTo field');
const NO_AVS = { Errors: expect.arrayContaining(['Missing data, avsResultCode field']) };

const CREATING: Row[] = [
  ...ACCEPTED.map(([says, fields, more = {}]): Row => [says, CREATE, fields, 200, SCREENED, more]),
  ...REFUSED.map(([says, fields, more = {}]): Row => [says, CREATE, fields, 400, NOT_SHOWN, more]),
  ['Usage samples post to the root path', 'POST /', {}, 200, SCREENED],
  ['400: `billTo` has no value', CREATE, { billTo: undefined }, 400, NO_BILL_TO],
  ['400: `billTo` has no value', CREATE, { billTo: null }, 400, NO_BILL_TO],
  ['The error names the field', CREATE, { cardAttempts: 'two' }, 400, errors(matching(/^card_attempts: /))],
  ['Required without a card', CREATE, { ...noCodes, payment: undefined }, 400, NO_AVS],
  ...Object.keys(CARD).map((field): Row => {
    const missing = errors(`Missing data, payment.creditCard.${field} field`);
    return ['Required when AVS and CVV are missing', CREATE, paidWith({ [field]: undefined }), 400, missing];
  }),
];

const NF_ID = matching(/empty or malformed.*id of the response to the initial transaction/);

const REPORTING: Row[] = [
  ['gateway-response: not required', GATEWAY, { 'nf-id': 'ID' }, 200, { Status: 'OK' }],
  ['gateway-response: object', GATEWAY, { 'nf-id': 'ID', 'gateway-response': 'pass' }, 400, NOT_SHOWN],
  ['`nf-id` absent', GATEWAY, {}, 400, errors('nf-id field is not defined.')],
  ...['', 'x', 7].map(
    (id): Row => ['`nf-id` empty or malformed', GATEWAY, { 'nf-id': id }, 400, errors(NF_ID)],
  ),
  ['no such transaction', GATEWAY, { 'nf-id': NOBODY }, 404, NOT_FOUND],
  ['Two spellings', GATEWAY, { 'nf-id': 'ID', nfId: NOBODY }, 400, NOT_SHOWN],
];

const UNKNOWN_LIVE = 'no such transaction of the live account';
const THIS = { id: 'ID', decision: 'pass' };

const READ: Row[] = [
  ['transaction uuid or invoice number', 'GET /status', 'ID', 200, THIS],
  ['transaction uuid or invoice number', 'GET /status', 'A-1', 200, THIS],
  ['id returned on creation', 'GET /status_by_url', 'ID', 200, THIS],
  ['`order.invoiceNumber` sent on creation', 'GET /status_by_invoice', 'A-1', 200, THIS],
  ['no such transaction', 'GET /status', NOBODY, 404, NOT_FOUND],
  ['no such transaction', 'GET /status_by_url', NOBODY, 404, NOT_FOUND],
  ['no such transaction', 'GET /status_by_url', 'A-1', 404, NOT_FOUND],
  ['no such transaction', 'GET /status_by_invoice', 'A-2', 404, NOT_FOUND],
  ['must be sent without the `#`', 'GET /status_by_invoice', '#A-1', 404, NOT_FOUND],
  ...['ID', 'A-1'].flatMap((input) =>
    STATUS.map((operation): Row => [UNKNOWN_LIVE, operation, input, 404, NOT_FOUND, LIVE]),
  ),
];

const INVALID = '403: invalid `nf-token`';
const unauthorized = (key: string | undefined, more: Row[5] = {}) =>
  SCREENING.map((operation): Row => {
    const input = { 'nf-token': key, billTo: undefined };
    return [INVALID, operation, input, 403, NOT_AUTHORIZED, more];
  });

const WRONG_KEY: Row[] = [
  ...unauthorized('wrong'),
  ...unauthorized(undefined),
  // The key of the other mode.
  ...unauthorized(LIVE_KEY),
  ...unauthorized(TEST_KEY, { base: 'live' }),
  ...STATUS.flatMap((operation): Row[] => [
    [INVALID, operation, 'ID', 403, NOT_AUTHORIZED, { key: 'wrong' }],
    [INVALID, operation, 'ID', 403, NOT_AUTHORIZED, { key: 'live', base: 'test' }],
  ]),
  ...PORTAL.map((path): Row => [INVALID, `POST ${path}`, {}, 403, NOT_AUTHORIZED, { key: 'wrong' }]),
];

const CHARGEBACK = { transaction_id: 'ID', reason_code: '10.4', due_date: '2030-01-31' };
const about = (transaction_id: string) => ({ ...CHARGEBACK, transaction_id });
const WITH_ALL = {
  ...CHARGEBACK,
  ...{ notice_date: '2030-01-01', reference_number: 'R-1', carrier: 'Post', carrier_tracking_number: 'T-1' },
  ...{ notes: 'none', inquiry: 'false' },
};
const CODE = 'POST /customer-code';
const SUBMIT = 'POST /submit-chargeback';
const DONE = done({ chargeback: CHARGEBACK });
const COVERED = 'only for transactions covered by chargeback protection';
const PASS_OR_FRAUDULENT = 'only for transactions whose current status is `pass` or `fraudulent`';
const missing = (fields: string) => ({ code: 400, message: `Missing or malformed: ${fields}` });
const UNKNOWN = { code: 404, message: 'Transaction Not Found' };

const ACTIONS: Row[] = [
  ['200', CODE, { customer_code: 'c', email: 'a@example.com' }, 200, done()],
  ['customer_code, email: required', CODE, {}, 200, missing('customer_code, email')],
  ['customer_code: required', CODE, { email: 'a@example.com' }, 200, missing('customer_code')],
  ['customer_code: required', CODE, { customer_code: '', email: 'a@example.com' }, 200, refused],
  ['email: required', CODE, { customer_code: 'c' }, 200, missing('email')],
  ['email: email', CODE, { customer_code: 'c', email: 'c' }, 200, refused],
  ...OF_TRANSACTION.flatMap((path): Row[] => [
    ['transaction_id: required', `POST ${path}`, about(''), 200, missing('transaction_id')],
    ['no such transaction', `POST ${path}`, about(NOBODY), 200, UNKNOWN],
    [UNKNOWN_LIVE, `POST ${path}`, CHARGEBACK, 200, UNKNOWN, LIVE],
  ]),
  ['adds `chargeback`', SUBMIT, CHARGEBACK, 200, DONE],
  ['adds `chargeback`', SUBMIT, WITH_ALL, 200, done({ chargeback: WITH_ALL })],
  [COVERED, SUBMIT, CHARGEBACK, 200, refused, { covered: false }],
  ...['fail', 'review', 'error'].map(
    (decision): Row => [PASS_OR_FRAUDULENT, SUBMIT, CHARGEBACK, 200, refused, { decision }],
  ),
  [PASS_OR_FRAUDULENT, SUBMIT, CHARGEBACK, 200, DONE, { decision: 'fraudulent' }],
  ...[
    ...[{ reason_code: undefined }, { reason_code: '' }, { due_date: undefined }, { due_date: '01/31/2030' }],
    ...[{ due_date: '' }, { notice_date: '2030' }, { inquiry: 'yes' }],
  ].map((changes): Row => ['required', SUBMIT, { ...CHARGEBACK, ...changes }, 200, refused]),
];

const KEYS = { test: TEST_KEY, live: LIVE_KEY, wrong: 'wrong' };

const ROWS = [...CREATING, ...REPORTING, ...READ, ...WRONG_KEY, ...ACTIONS];
it.each(ROWS)('%s: %s', async (_says, operation, input, status, reply, more = {}) => {
  const { key = 'test', base = key, decision = 'pass', covered = true } = more;
  const sandbox = await startSandbox();
  sandbox.control.setPortal({ covered });
  const id = await created(sandbox, transaction({ customer: { email: `${decision}@example.com` } }));

  const [method = '', path = ''] = operation.split(' ');
  const isPortal = PORTAL.some((one) => one === path);
  const screening = base === 'live' ? sandbox.liveBaseUrl : sandbox.testBaseUrl;
  const address = isPortal ? sandbox.portalBaseUrl : screening;
  const fields = operation === GATEWAY || isPortal ? {} : transaction();
  const withId = (text: string) => text.replaceAll(/\bID\b/g, id);
  const answer =
    typeof input === 'string'
      ? await send(method, `${address}${path}/${KEYS[key]}/${encodeURIComponent(withId(input))}`)
      : await send(
          method,
          address + path,
          withId(JSON.stringify({ ...fields, [isPortal ? 'nf_token' : 'nf-token']: KEYS[key], ...input })),
        );
  const body = JSON.parse(answer.text.replaceAll(id, 'ID'));
  expect([answer.status, body]).toEqual([status, reply]);
  // A random id may contain the year by chance.
  expect(answer.text.replaceAll(UUID, 'ID')).not.toMatch(/4111111111111111|45395787636214|2099|sandbox-/);
  const { code = status } = body;
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
