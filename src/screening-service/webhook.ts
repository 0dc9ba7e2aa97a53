/** Assumption «form of a webhook»: finds the orders that a webhook is about. Its format isn't documented, and merchants fill in templates of their own. */
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { hasUnprintable } from '../contract/fields.ts';
import { withoutHash } from '../contract/ids.ts';

interface WebhookRequest {
  contentEncoding?: string | undefined;
  /** As it was sent, without `?`. */
  query?: string | undefined;
  body?: Uint8Array | undefined;
}

/** What may name an order, each once. It is not trusted: a webhook only triggers a read of the status. */
interface WebhookIds {
  /** Every id in the form of a transaction's, an event's or a customer's id included. */
  transactionIds: string[];
  invoiceNumbers: string[];
}

/** The limits of a webhook, in bytes, texts and ids. */
const MAX_BYTES = 64 * 1024;
const MAX_TEXTS = 20;
const MAX_IDS = 50;

const UUID = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/gi;
const SECRET =
  /(?:secret|token|key|signature|password)[\w-]{0,20}["'\s]{0,3}[:=]["'\s]{0,3}[^"'&,\s]{0,200}/gi;
/**
 * A name and a value as in JSON, a form (`order[invoiceNumber]=1001`), or a template that was filled in without quotes. A name whose value
 * is an object, and other braces, too.
 */
const FIELD =
  /(?<![\w-])([a-z][\w-]{0,40})["'\]\s]{0,3}[:=]\s{0,3}(?:"([^"\\]{0,200})"|([^"'&,{}[\]\r\n]{1,200})|\{)|[{}]/gi;
/** A name and a value as in XML: `<invoiceNumber>1001</invoiceNumber>`. */
const ELEMENT =
  /<(?:[a-z][\w-]{0,40}:)?([a-z][\w-]{0,40})(?:\s[^<>]{0,200})?>(?:\s{0,40}<!\[CDATA\[)?([^<>\]]{1,200})(?=<|\]\]>)/gi;
/** A name and a value as in `multipart/form-data`: after the line with the name come other headers and an empty line. */
const FORM_PART =
  /;\s?name="([a-z][\w-]{0,40})"\s?\n(?:[a-z][\w-]{0,40}:[^\n]{0,200}\n){0,5}\r?\n([^\r\n]{1,200})/gi;
const INVOICE_NAME = /^(?:merchant)?(?:invoice|order)(?:number|id|no|name)?$|^reference$/;

/**
 * Returns every transaction id and invoice number in a webhook: JSON, a form, a query, a template filled in without quotes
 * (`{"id":https://host/3f2c…,"invoiceNumber":#1001}`), text inside text, base64, UTF-16, compressed.
 * @returns undefined if the content encoding or the text's encoding is unknown or wrong
 */
export function readWebhook({ contentEncoding, query = '', body }: WebhookRequest): WebhookIds | undefined {
  const bytes = decompressed(body ?? new Uint8Array(), contentEncoding ?? 'identity');
  const bodies = bytes && decoded(bytes);
  if (bodies === undefined || bodies.length === 0) return undefined;
  const texts = unpacked([...bodies, query]).map((text) => text.replaceAll(SECRET, ''));
  const numbers = texts.flatMap((text) => fieldsIn(text).flatMap(invoiceNumberIn));
  return {
    transactionIds: distinct(texts.flatMap((text) => text.toLowerCase().match(UUID) ?? [])),
    invoiceNumbers: distinct(numbers),
  };
}

const DECOMPRESS = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

function decompressed(body: Uint8Array, encoding: string): Uint8Array | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  try {
    return DECOMPRESS.get(name)?.(body, { maxOutputLength: MAX_BYTES });
  } catch {
    return undefined;
  }
}

/**
 * Reads UTF-8, and UTF-16 with or without its mark: bytes that may be either are read as both, since the wrong reading has no ids. No
 * text begins with a zero.
 */
function decoded(bytes: Uint8Array): string[] {
  const part = bytes.subarray(0, MAX_BYTES);
  // In UTF-16, each ASCII character has a zero byte.
  const encodings = part.includes(0) ? ['utf-8', 'utf-16le', 'utf-16be'] : ['utf-8'];
  const texts = encodings.map((encoding) => new TextDecoder(encoding).decode(part));
  return texts.filter((text) => !text.slice(0, 4).includes('\0'));
}

/** Adds the texts inside the texts: of a form, in a string of JSON, in base64. */
function unpacked(texts: string[]): string[] {
  const all = new Set(texts);
  for (const text of all) {
    for (const inside of [withoutPercents(text), withoutEscapes(text), ...base64In(text)]) {
      if (all.size < MAX_TEXTS) all.add(inside);
    }
  }
  return [...all];
}

/** Decodes a form or a query, where `+` is a space. */
function withoutPercents(text: string): string {
  const spaced = /^[\w.%[\]-]{1,100}=/.test(text) ? text.replaceAll('+', ' ') : text;
  return spaced.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) =>
    Buffer.from(encoded.replaceAll('%', ''), 'hex').toString(),
  );
}

/** Decodes JSON's escapes: quotes in a string of JSON, and slashes and other scripts, which PHP escapes by default. */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|(["\\/]))/gi, (_escape, code: string | undefined, char = '') =>
    code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Only text counts, not a signature. */
function base64In(text: string): string[] {
  const runs = text.match(/[a-z0-9+/_-]{40,}={0,2}/gi) ?? [];
  return runs.map((run) => Buffer.from(run, 'base64').toString()).filter((one) => !/[\ufffd\0]/.test(one));
}

/** A name and its value. The name of a field in an object begins with that of the object, too: `invoice.number`. */
type Field = readonly [name: string, value: string];

function fieldsIn(text: string): Field[] {
  const fields: Field[] = [ELEMENT, FORM_PART].flatMap((form) =>
    [...text.matchAll(form)].map(([, name = '', value = '']) => [name, value] as const),
  );
  const parents: string[] = [];
  for (const [all, name = '', quoted, bare] of text.matchAll(FIELD)) {
    const value = quoted ?? bare;
    if (all === '}') parents.pop();
    else if (value === undefined) parents.push(name);
    else fields.push([name, value], [`${parents.at(-1) ?? ''}_${name}`, value]);
  }
  return fields;
}

/** The value of a field that is called like an invoice number, unless it is invalid, an unfilled placeholder, or an address. */
function invoiceNumberIn([name, value]: Field): string[] {
  if (!INVOICE_NAME.test(name.toLowerCase().replaceAll(/[_-]/g, ''))) return [];
  const number = withoutHash(value.trim()).trim();
  if (number === '' || number.length > 64 || hasUnprintable(number) || number.includes('://')) return [];
  return /%|^\{\{.*\}\}$|^(?:null|undefined)$/.test(number) ? [] : [number];
}

function distinct(found: readonly string[]): string[] {
  return [...new Set(found)].slice(0, MAX_IDS);
}
