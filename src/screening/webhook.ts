/** Reads webhooks in any format. */
import { withoutHash } from '../contract/ids.ts';
import { hasUnprintable } from './fields.ts';
import { isDecision } from './replies.ts';
import { isObject } from './spellings.ts';

/** The raw request to a webhook address. */
export interface WebhookRequest {
  contentType?: string | undefined;
  query?: string | URLSearchParams | Record<string, unknown> | undefined;
  body?: string | Uint8Array | undefined;
}

/** The content found in a webhook. It is not trusted: a webhook only triggers a status read. */
export interface WebhookHint {
  transactionId?: string;
  invoiceNumber?: string;
  decision?: string;
}

type Field = readonly [name: string, value: string];

const MAX_BODY = 64 * 1024;
const MAX_FIELDS = 500;
const MAX_DEPTH = 8;
const UUID = /(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])/i;

/** Field names in lower case without separators, likeliest first. */
const ID_NAMES = [
  ...['transactionid', 'nfid', 'transactionurl', 'transaction', 'transactionuuid', 'dataid', 'datauuid'],
  ...['id', 'url', 'uuid', 'link', 'statusurl'],
];
/** An `id` inside an object with one of these names is the transaction's. Outside, it may be the envelope's or a customer's. */
const OF_THE_TRANSACTION = /^(?:transaction(?:id|uuid|url)|data(?:id|uuid))$/;
const INVOICE_NAMES = [
  ...['invoicenumber', 'invoice', 'invoiceid', 'invoiceno', 'ordernumber', 'orderid', 'order', 'orderno'],
  ...['ordername', 'merchantorderid', 'reference'],
];
const DECISION_NAMES = ['decision', 'status', 'newdecision', 'newstatus', 'transactionstatus', 'result'];
const SECRET_NAMES = /secret|token|key|signature|password/;

/**
 * Finds a transaction id (bare or inside a URL), an invoice number and a decision in a webhook. The screening service doesn't document
 * the format, so this accepts JSON, form, query, or a template filled in without quotes, such as
 * `{"id":https://host/3f2c…,"decision":pass,"invoiceNumber":#1001}`. Values that aren't found are absent. Never throws.
 */
export function readWebhook({ contentType, query, body }: WebhookRequest): WebhookHint {
  const text = textOf(body).slice(0, MAX_BODY).trim();
  const fields = [...bodyFields(text, contentType ?? ''), ...queryFields(query)].filter(
    ([name]) => !SECRET_NAMES.test(name),
  );
  const others = fields.filter(([name, value]) => !INVOICE_NAMES.includes(name) || !invoiceIn(value));
  const transactionId =
    first(fields, ID_NAMES, uuidIn) ??
    others.map(([, value]) => uuidIn(value)).find((id) => id !== undefined) ??
    uuidIn(fields.length === 0 ? text : '');
  const invoiceNumber = first(fields, INVOICE_NAMES, invoiceIn);
  const decision = first(fields, DECISION_NAMES, (value) => {
    const word = value.trim().toLowerCase();
    return isDecision(word) ? word : undefined;
  });
  return {
    ...(transactionId === undefined ? {} : { transactionId }),
    ...(invoiceNumber === undefined ? {} : { invoiceNumber }),
    ...(decision === undefined ? {} : { decision }),
  };
}

function first(
  fields: readonly Field[],
  names: readonly string[],
  read: (value: string) => string | undefined,
): string | undefined {
  for (const name of names) {
    for (const [given, value] of fields) {
      const found = given === name ? read(value) : undefined;
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function uuidIn(value: string): string | undefined {
  return UUID.exec(value)?.[0];
}

/** Returns the invoice number unless it is invalid, an unfilled placeholder, or the URL of a transaction. */
function invoiceIn(value: string): string | undefined {
  const number = withoutHash(value.trim()).trim();
  if (number === '' || number.length > 64 || hasUnprintable(number)) return undefined;
  if (number.includes('://') && UUID.test(number)) return undefined;
  return /^%.*%$|^\{\{.*\}\}$|^(?:null|undefined)$/.test(number) ? undefined : number;
}

function textOf(body: string | Uint8Array | undefined): string {
  if (body === undefined || typeof body === 'string') return body ?? '';
  return new TextDecoder().decode(body.subarray(0, MAX_BODY));
}

function bodyFields(text: string, contentType: string): Field[] {
  if (/^[[{]/.test(text)) return jsonFields(text);
  if (!/form/i.test(contentType) && !text.includes('=')) return looseFields(text);
  // A JSON template posted as a form, or JSON in a form field.
  return [...new URLSearchParams(text)].slice(0, MAX_FIELDS).flatMap((field) => {
    const inside = /^\s*[[{]/.test(field[1]) ? jsonFields(field[1].trim()) : [];
    return inside.length > 0 ? inside : named([field]);
  });
}

function jsonFields(text: string): Field[] {
  const fields: Field[] = [];
  const open: { name: string; value: unknown; depth: number }[] = [
    { name: '', value: parse(text), depth: 0 },
  ];
  for (let next = open.shift(); next !== undefined && fields.length < MAX_FIELDS; next = open.shift()) {
    const { name, value, depth } = next;
    if (typeof value === 'string') fields.push([name, value]);
    else if (depth < MAX_DEPTH && (isObject(value) || Array.isArray(value))) {
      for (const [inner, item] of Object.entries(value).slice(0, MAX_FIELDS)) {
        const own = Array.isArray(value) ? name : plainName(inner);
        const both = name + own;
        open.push({ name: OF_THE_TRANSACTION.test(both) ? both : own, value: item, depth: depth + 1 });
      }
    }
  }
  // Keep numbers as written: 007 and 12345678901234567890 must not change.
  return [...fields, ...looseFields(text)];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Fields of JSON whose values may lack quotes: a value extends to the next name or to the end. */
function looseFields(text: string): Field[] {
  const quoted = [...text.matchAll(/"([^"\\]{1,64})"\s{0,20}:/g)];
  const names =
    quoted.length > 0 ? quoted : [...text.matchAll(/[{,\s]([A-Za-z_][\w-]{0,63})\s{0,20}:(?!\/\/)/g)];
  return names.slice(0, MAX_FIELDS).map((match, index): Field => {
    const value = text.slice(match.index + match[0].length, names[index + 1]?.index ?? text.length);
    return [plainName(match[1] ?? ''), bare(value)];
  });
}

/** Strips the JSON syntax around a value: white space, quotes, a trailing comma or brackets. */
function bare(value: string): string {
  let end = value.length;
  while (end > 0 && /[\s,{}[\]]/.test(value.charAt(end - 1))) end -= 1;
  return value.slice(0, end).trim().replace(/^"|"$/g, '').trim();
}

function queryFields(query: WebhookRequest['query']): Field[] {
  if (query === undefined) return [];
  if (typeof query === 'string' || query instanceof URLSearchParams) {
    return named([...new URLSearchParams(query)].slice(0, MAX_FIELDS));
  }
  return named(
    Object.entries(query).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value])
        .filter((item) => typeof item === 'string' || typeof item === 'number')
        .map((item): [string, string] => [name, String(item)]),
    ),
  );
}

function named(fields: [string, string][]): Field[] {
  return fields.slice(0, MAX_FIELDS).map(([name, value]) => [plainName(name), value]);
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
