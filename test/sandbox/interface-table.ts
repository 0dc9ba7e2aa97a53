/** The screening service's interface as a table: what an operation answers to an input, and the sentence that says so. */
import { expect } from 'vitest';
import { LIVE_KEY, TEST_KEY, transaction } from './support.ts';

const SCREENING = ['POST /transaction', 'POST /gateway_response'] as const;
const STATUS = ['GET /status', 'GET /status_by_url', 'GET /status_by_invoice'] as const;
const PORTAL = ['/customer-code', '/report-fraud', '/cancel-transaction', '/submit-chargeback'] as const;
export type Operation =
  | (typeof SCREENING | typeof STATUS)[number]
  | 'POST /'
  | `POST ${(typeof PORTAL)[number]}`;

/** A call about transaction `ID`, with the invoice number `A-1`, which the test account screened before. */
export interface Row {
  /** The interface's words. */
  readonly says: string;
  readonly operation: Operation;
  /** The fields of the body, or the requested id or invoice number. */
  readonly input: Record<string, unknown> | string;
  readonly status: number;
  /** The whole body of the reply. */
  readonly reply: unknown;
  /** `test` by default; screening operations go to its address. */
  readonly key?: 'test' | 'live' | 'wrong';
  /** What became of transaction `ID`: its decision (`pass` by default), its age, and whether it is covered by chargeback protection. */
  readonly given?: { decision?: string; days?: number; covered?: boolean };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const NOBODY = '9d9d9d9d-1b2c-4d5e-8f90-0123456789ab';
const errors = (...texts: unknown[]) => ({ Errors: texts });
const matching = (text: RegExp) => expect.stringMatching(text);
/** The interface shows no text of these errors, so any text without the value will do. */
const NOT_SHOWN = { Errors: expect.arrayContaining([expect.any(String)]) };
const screened = (more: object = { decision: 'pass' }) => ({ id: matching(UUID), ...more });
const done = (more: object = {}) => ({ code: 200, message: expect.any(String), ...more });
const refused = { code: matching2xx(false), message: expect.any(String) };

/** The refusals of the portal actions are not shown: any code that is no 2xx. */
function matching2xx(is: boolean) {
  return expect.toSatisfy((code: unknown) => /^2\d\d$/.test(String(code)) === is);
}

const creating = (
  says: string,
  changes: Record<string, unknown>,
  status: number,
  reply: unknown,
  key: Row['key'] = 'test',
): Row => ({ says, operation: 'POST /transaction', input: transaction(changes), status, reply, key });

const CARD = { cardNumber: '4111111111111111', expirationDate: '12/2099', cardCode: '123' };
const REAL = '4539578763621486';
const paidWith = (creditCard: object) => ({
  ...{ avsResultCode: undefined, cvvResultCode: undefined },
  payment: { creditCard: { ...CARD, ...creditCard } },
});
const as = (word: string, more: object = {}) => ({ customer: { email: `${word}@example.com` }, ...more });
const shop = { name: 'M', website: 'm.example', email: 'm@m.example' };
const home = {
  firstName: 'A',
  lastName: 'B',
  address: 'C 1',
  city: 'D',
  state: 'E',
  zip: '1',
  country: 'US',
};
const billed = (changes: object) => ({ billTo: { ...home, phoneNumber: '2125550100', ...changes } });

const CREATE: Row[] = [
  creating('200: Transaction response, standard', {}, 200, screened()),
  { ...creating('Usage samples post to the root path', {}, 200, screened()), operation: 'POST /' },
  creating('Some usage samples send the key as `nfToken`', sample(), 200, screened()),
  creating('message: present only for a `fail` decision', as('fail'), 200, {
    ...screened({ decision: 'fail', message: expect.any(String) }),
  }),
  ...['review', 'fraudulent', 'error'].map((decision) =>
    creating(`decision: ${decision}`, as(decision), 200, screened({ decision })),
  ),
  ...['pass', 'fail'].map((decision) =>
    creating(
      'enriched when `enrich` is true: id, decision, account_mode, passive_mode, sub_status, insights',
      as(decision, { enrich: true }),
      200,
      screened({
        ...{ decision, account_mode: 'test', passive_mode: expect.any(Boolean) },
        ...{ sub_status: expect.any(String), insights: expect.any(Object) },
      }),
    ),
  ),
  ...[undefined, null].map((billTo) =>
    creating('400: `billTo` has no value', { billTo }, 400, errors('Missing data, billTo field')),
  ),
  creating('it may be an empty object', { billTo: {} }, 200, screened()),
  creating('Required when the `billTo` object is non-empty', { billTo: { city: 'D' } }, 400, NOT_SHOWN),
  creating('Required when the `billTo` object is non-empty', billed({}), 200, screened()),
  ...['USA', 'U', '', 'ZZ', 'UK', 'EU', 'SU', 'AC'].map((country) =>
    creating('country: ISO 2-character country code', billed({ country }), 400, NOT_SHOWN),
  ),
  creating('shipTo: required when productType is `Goods`', goods(undefined), 400, NOT_SHOWN),
  creating('shipTo: required when productType is `Goods`', goods(home), 200, screened()),
  creating('test card numbers are rejected with a live key', paidWith({}), 400, NOT_SHOWN, 'live'),
  creating('real card numbers are rejected with a test key', paidWith({ cardNumber: REAL }), 400, NOT_SHOWN),
  creating('Live: a real card number', paidWith({ cardNumber: REAL }), 200, screened(), 'live'),
  creating('Test: a test card number', paidWith({}), 200, screened()),
  creating('last4: exactly 4 characters', paidWith({ last4: '11111' }), 400, NOT_SHOWN),
  creating('last4 and cardNumber are of one card', paidWith({ last4: '1112' }), 400, NOT_SHOWN),
  creating('bin and cardNumber are of one card', paidWith({ bin: '411112' }), 400, NOT_SHOWN),
  creating('bin and cardNumber are of one card', paidWith({ bin: '411111', last4: '1111' }), 200, screened()),
  ...['1299', '12-99', '12-2099', '12/2099', '12/99'].map((expirationDate) =>
    creating('MMYY, MM-YY, MM-YYYY, MM/YYYY, MM/YY', paidWith({ expirationDate }), 200, screened()),
  ),
  ...['13/99', '01/20', '2099-12', ''].map((expirationDate) =>
    creating('a valid, unexpired date', paidWith({ expirationDate }), 400, NOT_SHOWN),
  ),
  ...['cardNumber', 'expirationDate', 'cardCode'].map((field) =>
    creating('Required when AVS and CVV are missing', paidWith({ [field]: undefined }), 400, NOT_SHOWN),
  ),
  ...[{ creditCard: { last4: '1111' } }, { creditCard: { ...CARD, cardCode: undefined } }, {}].map(
    (payment) =>
      creating('Pre-gateway: full card data, beside codes too', before({ payment }), 400, NOT_SHOWN),
  ),
  creating('Pre-gateway: full card data', before({ payment: { creditCard: CARD } }), 200, screened()),
  creating('must carry the last four card digits', after({ creditCard: CARD }), 400, NOT_SHOWN),
  creating('must carry the last four', after({ creditCard: { ...CARD, last4: '1111' } }), 200, screened()),
  creating('travel: object', { travel: 'x' }, 400, NOT_SHOWN),
  creating('travel: object', { travel: { travelDate: '12/31/2099' } }, 200, screened()),
  creating('order: object', { order: 'x' }, 400, NOT_SHOWN),
  creating('customer: object', { customer: [] }, 400, NOT_SHOWN),
  ...(
    [
      ['amount', 24, '1'],
      ['shippingAmount', 24, '1'],
      ['currency_code', 3, 'U'],
      ['avsResultCode', 3, 'Y'],
      ['cvvResultCode', 1, 'M'],
      ['cavvResultCode', 1, 'A'],
      ['referial_code', 64, 'a'],
      ['order.invoiceNumber', 64, 'a'],
      ['travel.destination', 128, 'a'],
      ['billTo.zip', 128, 'a'],
    ] as const
  ).flatMap(([path, limit, letter]) => {
    const says = `Limits: ${path}, ${limit} characters`;
    return [
      creating(says, at(path, letter.repeat(limit)), 200, screened()),
      creating(says, at(path, letter.repeat(limit + 1)), 400, NOT_SHOWN),
    ];
  }),
  creating('Two spellings', { currency_code: 'USD', currencyCode: 'USD' }, 200, screened()),
  creating('Two spellings', { currency_code: 'USD', currencyCode: 'EUR' }, 400, NOT_SHOWN),
  creating('Two spellings', { order: { order_type: '', orderType: 'upsell' } }, 400, NOT_SHOWN),
];

function sample() {
  return { 'nf-token': undefined, nfToken: TEST_KEY, currencyCode: 'USD', order: { orderType: 'upsell' } };
}

function before(changes: object) {
  return { gatewayType: 'pre-gateway', avsResultCode: 'U', cvvResultCode: 'U', ...changes };
}

function after(payment: object) {
  return { gatewayType: 'post-gateway', payment };
}

function goods(shipTo: object | undefined) {
  return { merchant: { ...shop, productType: 'Goods' }, shipTo };
}

function at(path: string, value: string): Record<string, unknown> {
  const [field = '', inner] = path.split('.');
  if (inner === undefined) return { [field]: value };
  return field === 'billTo' ? billed({ [inner]: value }) : { [field]: { [inner]: value } };
}

const result = { result: 'pass', authcode: '00AA', 'transaction-id': 'g-1' };
const reporting = (says: string, input: Record<string, unknown>, status: number, reply: unknown): Row => ({
  ...{ says, operation: 'POST /gateway_response', status, reply },
  input: { 'nf-token': TEST_KEY, ...input },
});
const NF_ID = matching(/empty or malformed.*id of the response to the initial transaction/);

const GATEWAY: Row[] = [
  reporting('200: `{ Status }`', { 'nf-id': 'ID', 'gateway-response': result }, 200, { Status: 'OK' }),
  reporting('gateway-response: not required', { 'nf-id': 'ID' }, 200, { Status: 'OK' }),
  reporting('gateway-response: object', { 'nf-id': 'ID', 'gateway-response': 'pass' }, 400, NOT_SHOWN),
  reporting('`nf-id` absent', {}, 400, errors('nf-id field is not defined.')),
  ...['', 'x', 7].map((id) => reporting('`nf-id` empty or malformed', { 'nf-id': id }, 400, errors(NF_ID))),
  reporting('Two spellings', { 'nf-id': 'ID', nfId: NOBODY }, 400, NOT_SHOWN),
];

const reading = (says: string, operation: Operation, input: string, status: number, reply: unknown): Row => ({
  ...{ says, operation, input, status, reply },
});
const THIS = { id: 'ID', decision: 'pass' };
const NOT_FOUND = errors('Transaction Not Found');

const READ: Row[] = [
  reading('transaction uuid or invoice number', 'GET /status', 'ID', 200, THIS),
  reading('transaction uuid or invoice number', 'GET /status', 'A-1', 200, THIS),
  reading('id returned on creation', 'GET /status_by_url', 'ID', 200, THIS),
  reading('`order.invoiceNumber` sent on creation', 'GET /status_by_invoice', 'A-1', 200, THIS),
  reading('no such transaction', 'GET /status_by_url', NOBODY, 404, NOT_FOUND),
  reading('no such transaction', 'GET /status_by_invoice', 'A-2', 404, NOT_FOUND),
  reading('must be sent without the `#`', 'GET /status_by_invoice', '#A-1', 404, NOT_FOUND),
  {
    ...reading('message', 'GET /status', 'ID', 200, {
      ...THIS,
      decision: 'fail',
      message: expect.any(String),
    }),
    given: { decision: 'fail' },
  },
];

const WRONG_KEY: Row[] = [
  ...SCREENING.map((operation) => ({
    ...creating('403: invalid `nf-token`', { 'nf-token': 'wrong' }, 403, errors('Not Authorized')),
    operation,
  })),
  ...SCREENING.map((operation) => ({
    ...creating('the key’s mode', { 'nf-token': LIVE_KEY }, 403, errors('Not Authorized')),
    operation,
  })),
  ...STATUS.map(
    (operation): Row => ({
      ...reading('403: invalid `nf-token`', operation, 'ID', 403, errors('Not Authorized')),
      key: 'wrong',
    }),
  ),
  ...PORTAL.map(
    (path): Row => ({
      ...acting('An invalid key gives HTTP 403', path, {}, errors('Not Authorized')),
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
const WITHIN_5_DAYS = 'only within 5 days of the time the transaction was first screened';

const ACTIONS: Row[] = [
  acting('200', '/customer-code', { customer_code: 'c', email: 'a@example.com' }, done()),
  acting('customer_code: required', '/customer-code', { email: 'a@example.com' }, refused),
  acting('customer_code: required', '/customer-code', { customer_code: '', email: 'a@example.com' }, refused),
  acting('email: required', '/customer-code', { customer_code: 'c' }, refused),
  acting('email: email', '/customer-code', { customer_code: 'c', email: 'c' }, refused),
  acting('200', '/report-fraud', { transaction_id: 'ID' }, done()),
  acting('transaction_id: required', '/report-fraud', {}, refused),
  acting('transaction_id: required', '/cancel-transaction', { transaction_id: '' }, refused),
  acting(WITHIN_5_DAYS, '/cancel-transaction', { transaction_id: 'ID' }, done(), { days: 4.99 }),
  acting(WITHIN_5_DAYS, '/cancel-transaction', { transaction_id: 'ID' }, refused, { days: 5.01 }),
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
    ...[{ transaction_id: NOBODY }, { reason_code: undefined }, { reason_code: '' }, { due_date: undefined }],
    ...[{ due_date: '01/31/2030' }, { due_date: '' }, { notice_date: '2030' }, { inquiry: 'yes' }],
  ].map((changes) => acting('required', '/submit-chargeback', { ...CHARGEBACK, ...changes }, refused)),
];

export const INTERFACE: Row[] = [...CREATE, ...GATEWAY, ...READ, ...WRONG_KEY, ...ACTIONS];
