import { expect, it } from 'vitest';
import { sightings } from './canaries.ts';

const canary = { name: 'the number', text: '4111111111111111' };
const seen = (text: string | Buffer) => sightings([{ name: 'a log', bytes: Buffer.from(text) }], [canary]);

it('finds nothing where nothing is', () => {
  expect(seen('411111******1111 and 4111-1111-1111-1111')).toEqual([]);
});

it.each([
  ['as it is', canary.text],
  ['inside a word', `x${canary.text}y`],
  ['in hex', Buffer.from(canary.text).toString('hex')],
  ['in base64, at the beginning', Buffer.from(`${canary.text} and more`).toString('base64')],
  ['in base64, one byte later', Buffer.from(`"${canary.text}"`).toString('base64')],
  ['in base64, two bytes later', Buffer.from(`{"${canary.text}"}`).toString('base64')],
  ['in base64 of addresses', Buffer.from(`…"${canary.text}"`).toString('base64url')],
])('finds a canary %s', (_where, text) => {
  expect(seen(`before ${text} after`).join()).toContain('the number in a log');
});

it('finds what is spelled for an address', () => {
  const email = { name: 'e-mail', text: 'ada+1@example.com' };
  const bytes = Buffer.from(`?email=${encodeURIComponent(email.text)}`);
  expect(sightings([{ name: 'a log', bytes }], [email])).toEqual(['e-mail in a log, as address']);
});
