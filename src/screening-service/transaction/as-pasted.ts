/** Values as people paste them and frameworks hand them over, rewritten as the screening service expects them. */
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { digitValue } from '../../card-data/digit-groups.ts';
import { withoutHash } from '../../contract/ids.ts';
import { bareAddress, isRecord } from '../../contract/values.ts';

type Fields = Record<string, unknown>;

/** Rewrites the texts of a transaction in definition spelling. What can't be read stays unchanged, for the checks to refuse. */
export function tidied(body: Fields): Fields {
  return rewritten(body, {
    currency_code: (code) => code.toUpperCase(),
    customerIP: clientAddress,
    customer: { email: emailAddress },
    merchant: { website: domain, email: emailAddress },
    order: { invoiceNumber: withoutHash },
    billTo: { country: (code) => code.toUpperCase(), phoneNumber },
    shipTo: { country: (code) => code.toUpperCase() },
  });
}

/** The same for the content of a portal action. */
export function tidiedAction(content: unknown): unknown {
  return isRecord(content) ? rewritten(content, { email: emailAddress }) : content;
}

interface Rewrites {
  [field: string]: ((text: string) => string) | Rewrites;
}

/** Longer texts than any field may hold. They stay unchanged: some rewrites of them would block the event loop for seconds. */
const MAX_REWRITTEN = 1_000;

function rewritten(fields: Fields, rewrites: Rewrites): Fields {
  const changed = Object.entries(rewrites).flatMap(([name, rewrite]) => {
    const value = fields[name];
    if (typeof rewrite === 'function') {
      return typeof value === 'string' && value.length <= MAX_REWRITTEN ? [[name, rewrite(value)]] : [];
    }
    return isRecord(value) ? [[name, rewritten(value, rewrite)]] : [];
  });
  return { ...fields, ...Object.fromEntries(changed) };
}

/** `198.51.100.20, 10.0.0.1` of `X-Forwarded-For`: the first is the customer's. */
function clientAddress(text: string): string {
  const address = bareAddress(text.split(',')[0] ?? '');
  return isIP(address) === 0 ? text : address;
}

/** A domain in another script becomes punycode. The screening service judges the local part. Invisible marks and spaces around it are removed. */
function emailAddress(text: string): string {
  const visible = withoutMarks(text).trim();
  const at = visible.lastIndexOf('@');
  return at < 0 ? visible : `${visible.slice(0, at)}@${domain(visible.slice(at + 1))}`;
}

/** Removes the marks that join letters or change the direction of text. */
function withoutMarks(text: string): string {
  return text.replace(/\p{Cf}/gu, '');
}

function domain(text: string): string {
  const host = text.replace(/[.。]$/, '');
  return /^[\x20-\x7e]*$/.test(host) ? host : domainToASCII(host) || text;
}

/** Digits of any script, dashes of any kind, `tel:` and `;ext=`, and invisible marks. */
function phoneNumber(text: string): string {
  return withoutMarks(text.normalize('NFKC'))
    .replace(/\p{Nd}/gu, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)))
    .replace(/\p{Pd}/gu, '-')
    .replace(/^tel:/i, '')
    .replace(/;ext=/i, ' ext ')
    .trim();
}

const NOT_PUBLIC = new BlockList();
const NETS =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::/127 fc00::/7 fe80::/10';
for (const [net = '', prefix] of NETS.split(' ').map((one) => one.split('/'))) {
  NOT_PUBLIC.addSubnet(net, Number(prefix), familyOf(net));
}

/** @returns whether no customer on the internet can have this address: it is private, of this machine, or unspecified */
export function isNotPublic(address: string): boolean {
  return NOT_PUBLIC.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
