const MAX_WORDS = 10;
const MAX_LENGTH = 300;

/**
 * Makes the service's words fit to be shown and kept: bounded, and without anything of what was sent that the
 * service might repeat: the given secrets, card numbers, addresses (they may hold the key) and e-mail addresses.
 */
export function scrubWords(words: readonly string[], secrets: readonly string[]): string[] {
  return words.slice(0, MAX_WORDS).map((word) => scrub(word, secrets));
}

/** Takes out the given secrets and card numbers, and leaves the rest of a text as it is, up to 3,000 characters. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The service's reply is bounded, but not by much: the patterns see a piece of it only.
  let clean = text.slice(0, 10 * MAX_LENGTH);
  for (const secret of secrets) {
    for (const spelling of new Set([secret, encodeURIComponent(secret)])) {
      if (spelling.length > 0) clean = clean.replaceAll(wholeWord(spelling), '[removed]');
    }
  }
  return clean.replace(/\d(?:[ -]?\d){12,}/g, '[removed]');
}

function scrub(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text, secrets)
    .replace(/[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi, '[address removed]')
    .replace(/[^\s@<>"']{1,128}@[^\s@<>"']{1,128}/g, '[e-mail removed]')
    .slice(0, MAX_LENGTH);
}

/** Long secrets go wherever they stand; a short one, such as a card code, only as a word of its own. */
function wholeWord(secret: string): RegExp {
  const literal = secret.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return secret.length >= 8
    ? new RegExp(literal, 'gi')
    : new RegExp(`(?<![A-Za-z0-9])${literal}(?![A-Za-z0-9])`, 'gi');
}
