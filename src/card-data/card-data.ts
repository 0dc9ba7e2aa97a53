/**
 * Finds card data in all input: every text, number and key. The API, the client library, the command line, the pages and the order's own
 * workflow all use this scan. Pure, and in linear time.
 */
import { OrderScreeningError, type Refusal } from '../contract/errors.ts';
import { beginsAsACard, type Content, holdsCardNumber, passesLuhn, SHORTEST } from './card-numbers.ts';
import { digitsOf, hasDigits, plainText } from './digit-groups.ts';

interface Scan {
  /** Paths of the fields meant for card data, spelled as in the request: `payment.creditCard.cardNumber`. */
  cards?: readonly string[] | undefined;
  /** Paths of id fields that the sender declares to hold no card numbers, in either spelling. */
  notCards?: readonly string[] | undefined;
}

/** The maximum of reported finds: longer lists don't help. */
const MAX_FINDS = 100;
const MAX_PATH_LENGTH = 32;

/** A value in the scan. Its path is built only for a find. */
interface Place {
  value: unknown;
  name: string | number | undefined;
  /** The name of the field; the items of a list have that of the list. */
  field: string | undefined;
  parent: Place | undefined;
}

/**
 * Scans a JSON value. Iterative, since the input may be nested very deeply.
 * @returns the path of each find, without any value: `userFields.note`; a key that is card data becomes `…`
 */
export function cardDataIn(root: unknown, scan: Scan = {}): string[] {
  const found = new Set<string>();
  const open: Place[] = [{ value: root, name: undefined, field: undefined, parent: undefined }];
  for (let place = open.pop(); place !== undefined && found.size < MAX_FINDS; place = open.pop()) {
    if (isCardData(place) && !isExempt(place, scan)) {
      found.add(shownPath(namesTo(place).slice(0, MAX_PATH_LENGTH)));
      continue;
    }
    const { value } = place;
    if (typeof value !== 'object' || value === null) continue;
    // The stack is last in, first out: pushing in reverse scans the entries in order.
    if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1)
        open.push({ value: value[index], name: index, field: place.field, parent: place });
    } else {
      for (const name of Object.keys(value).reverse())
        open.push({ value: Reflect.get(value, name), name, field: name, parent: place });
    }
  }
  return [...found];
}

/** @returns why a request is refused, with the path of each find; undefined if it has no card data */
export function cardDataRefusal(value: unknown, scan?: Scan): Refusal | undefined {
  const paths = cardDataIn(value, scan);
  if (paths.length === 0) return undefined;
  const where = paths.map((path) => path || 'the request').join(', ');
  return {
    code: 'card-data-in-request',
    message: `Card data or a service key is not allowed in ${where}.`,
    errors: paths.map((path) => ({ path, message: 'must not contain card data or a service key' })),
  };
}

/** @throws OrderScreeningError `card-data-in-request`, with the path of each find in `details.errors` */
export function refuseCardData(value: unknown, scan?: Scan): void {
  const refused = cardDataRefusal(value, scan);
  if (refused === undefined) return;
  const { code, message, ...details } = refused;
  throw new OrderScreeningError(code, message, details);
}

/**
 * Scans an order id that a request has under a different name. It is allowed as `orderId`, or by its own name.
 * @throws OrderScreeningError `card-data-in-request`
 */
export function refuseCardInId(name: string, orderId: unknown, scan: Pick<Scan, 'notCards'>): void {
  if (cardDataIn({ orderId }, scan).length > 0) refuseCardData({ [name]: orderId }, scan);
}

/** @returns the message with `notCards`, the sender's declared id fields, if an id looks like a card number; else the message unchanged */
export function vouchedFor<Message extends object>(
  message: Message,
  { notCards }: { notCards: readonly string[] },
): Message & { notCards?: string[] } {
  const needed = notCards.length > 0 && cardDataIn(message).length > 0;
  return needed ? { ...message, notCards: [...notCards] } : message;
}

/** Returns a field's name for an error. The sender chose it, so it is shortened, and card data and long runs of digits are masked. */
export function shownName(name: string): string {
  if (holdsCardNumber(name)) return '…';
  return name
    .replace(/\d{9,}/g, '…')
    .replace(/[^\w\-. …]/g, '?')
    .slice(0, 64);
}

/** Returns a path for an error, with the names as `shownName` returns them: `lineItems[0].price`. */
export function shownPath(names: readonly PropertyKey[]): string {
  return names.reduce<string>((shown, name) => {
    if (typeof name === 'number') return `${shown}[${name}]`;
    return shown === '' ? shownName(String(name)) : `${shown}.${shownName(String(name))}`;
  }, '');
}

function namesTo(place: Place): (string | number)[] {
  const names: (string | number)[] = [];
  for (let at: Place | undefined = place; at?.name !== undefined; at = at.parent) names.push(at.name);
  return names.reverse();
}

function isCardData(place: Place): boolean {
  const { value, name } = place;
  if (typeof name === 'string' && (holdsCardNumber(name) || isCardField(place))) return true;
  const text = textOf(value);
  // The content is looked up last: most values have too few digits.
  if (text === undefined || !hasDigits(text, SHORTEST)) return false;
  const content = contentOf(place);
  return typeof value === 'number' ? isCardNumber(value, content) : holdsCardNumber(text, content);
}

/** Returns what is scanned of a value itself: a list may be a card number in its groups. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return Array.isArray(value) && value.length <= MOST_GROUPS ? listed(value) : undefined;
}

/** Longer lists are not the groups of a number. */
const MOST_GROUPS = 100;

/** The short texts and numbers of a list, as one text: a card number may be split into its groups. */
function listed(values: readonly unknown[]): string {
  const isGroup = (one: unknown) => (typeof one === 'string' ? one.length <= 6 : typeof one === 'number');
  return values.map((one) => (isGroup(one) ? String(one) : 'x')).join(',');
}

const PHONES = /(?:phone|fax|mobile|cell|tel)(?:number|no)?$/;
const IDS =
  /(?:id|ids|number|numbers|no|nr|code|codes|sku|skus|ref|reference|barcode|gtin|ean|upc|isbn|sscc|iban|imei|imeisv|serial|tracking|key|token)$/;

/** Returns what a field holds, by its name. */
function contentOf({ field }: Place): Content {
  if (field === undefined || field.length > MAX_NAME_LENGTH) return 'text';
  const plain = plainName(field);
  if (PHONES.test(plain)) return 'phone';
  return IDS.test(plain) ? 'id' : 'text';
}

/** Above the range of exact integers the last digits, including the check digit, are lost: only the prefix and the length count. */
function isCardNumber(value: number, content: Content): boolean {
  if (!Number.isInteger(value)) return false;
  const digits = String(Math.abs(value));
  return (
    /^\d+$/.test(digits) &&
    beginsAsACard(digits, content) &&
    (!Number.isSafeInteger(value) || passesLuhn(digits))
  );
}

// Fields that are card data by name, in either spelling.

/** Names of card fields and service keys, which are refused whatever their value. */
const ALWAYS = new Set(['cardnumber', 'cardcode', 'nftoken']);
const CARD_CODES =
  /^(?:(?:credit)?card|cc)?(?:(?:cv[vcdn]2?|ccv2?|csc|cav2)(?:code|number|num|no|nr|value)?|cid|securitycode|verification(?:code|number|value))$/;
/** Data of a magnetic stripe: the number, a name or `=`, the expiry. */
const TRACK_DATA = /\d{12,19}(?:[=D]\d{4}|\^[^^]{2,26}\^\d{4})/;
const MAX_NAME_LENGTH = 64;

/** Returns a name without the differences of the two spellings: `nf-token` and `nfToken` become `nftoken`. */
function plainName(name: string): string {
  return plainText(name)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

function isCardField({ value, name }: Place): boolean {
  if (typeof name !== 'string' || name.length > MAX_NAME_LENGTH || value === undefined || value === null) {
    return false;
  }
  const plain = plainName(name);
  if (ALWAYS.has(plain)) return true;
  if (CARD_CODES.test(plain)) return /^\d{3,4}$/.test(digitsOf(value));
  if (plain === 'pan') return /^\d{12,19}$/.test(digitsOf(value));
  return plain.startsWith('track') && typeof value === 'string' && TRACK_DATA.test(plainText(value));
}

// Fields that may hold a card, and ids that only look like one.

/** Fields that are not ids, so they can't be declared: free text, and keys that callers choose. */
const NO_IDS = new Set(['reason', 'notes', 'idempotencykey']);
const ID_PATH = /^[A-Za-z0-9][\w-]{0,63}(?:\[\])?(?:\.[A-Za-z0-9][\w-]{0,63}(?:\[\])?)*$/;

/** @returns whether a path can name an id field: `orderId`, `order.invoiceNumber`, `lineItems[].sku` */
export function isIdPath(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > 256 || !ID_PATH.test(path)) return false;
  return !NO_IDS.has(plainName(path.slice(path.lastIndexOf('.') + 1)));
}

/** Returns whether a find is allowed: in a field meant for a card, or in a declared id field. Keys are never exempt. */
function isExempt(place: Place, { cards = [], notCards }: Scan): boolean {
  const { value, name } = place;
  if (typeof value === 'object' || (typeof name === 'string' && holdsCardNumber(name))) return false;
  if (cards.length > 0 && cards.includes(namesTo(place).join('.'))) return true;
  if (!Array.isArray(notCards) || isCardField(place)) return false;
  const [first = '', ...rest] = namesTo(place).map((one) =>
    typeof one === 'number' ? '[]' : plainName(one),
  );
  const vouched = new Set(notCards.filter(isIdPath).map((path) => sameIdPath(plainPath(path))));
  const below = FRAMES.has(first) ? rest.join('.') : undefined;
  return [[first, ...rest].join('.'), below].some(
    (path) => path !== undefined && vouched.has(sameIdPath(path)),
  );
}

/** The fields in which a message wraps a transaction or the fields of a portal action. */
const FRAMES = new Set(['transaction', 'fields']);

/** An adoption has the invoice number of the transaction without the transaction. */
function sameIdPath(path: string): string {
  return path === 'invoicenumber' ? 'order.invoicenumber' : path;
}

function plainPath(path: string): string {
  return path
    .replaceAll('[]', '.[]')
    .split('.')
    .map((name) => (name === '[]' ? name : plainName(name)))
    .join('.');
}
