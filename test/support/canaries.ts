/** Finds words that must not stand somewhere, in whatever spelling they may have got there. */

/** Something that must not be found, and the name that a finding calls it by. */
export interface Canary {
  name: string;
  text: string;
}

/** Somewhere that is searched: all its bytes. */
export interface Place {
  name: string;
  bytes: Buffer;
}

const SHORTEST = 6;

/** @returns a line for each canary in each place, without the canary itself */
export function sightings(places: readonly Place[], canaries: readonly Canary[]): string[] {
  return places.flatMap(({ name: place, bytes }) =>
    canaries.flatMap(({ name, text }) =>
      spellingsOf(text)
        .filter(([, spelling]) => bytes.includes(spelling))
        .map(([how]) => `${name} in ${place}${how === 'plain' ? '' : `, as ${how}`}`),
    ),
  );
}

/** A text as it is, as hex, in an address, and inside base64 at each of the three places where it may begin. */
function spellingsOf(text: string): [string, Buffer][] {
  if (text.length < SHORTEST) throw new Error('so short a text is found anywhere by chance');
  const bytes = Buffer.from(text);
  const spellings: [string, Buffer][] = [
    ['plain', bytes],
    ['hex', Buffer.from(bytes.toString('hex'))],
  ];
  const inAddress = encodeURIComponent(text);
  if (inAddress !== text) spellings.push(['address', Buffer.from(inAddress)]);
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64url')
      .replace(/=+$/, '');
    // Characters at both ends depend on what stands beside the text.
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    for (const spelling of new Set([own, own.replaceAll('-', '+').replaceAll('_', '/')])) {
      spellings.push(['base64', Buffer.from(spelling)]);
    }
  }
  return spellings;
}
