/** HTML templates. Every value is escaped unless it is an `Html`. */

/** Safe markup. Only the `html` tag creates it. */
class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type { Html };

/** Values allowed in a template; `undefined` and `false` render nothing. */
export type Shown = Html | string | number | undefined | false | readonly Shown[];

/** Template tag that escapes its values. Use them in text, or in attributes between double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return new Html(parts.map((part, at) => part + write(values[at])).join(''));
}

function write(value: Shown): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(write).join('');
  return escaped(String(value));
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function withEntities(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Also replaces control characters and bidirectional marks, which could hide or reorder the text that follows. */
function escaped(text: string): string {
  return withEntities(withLineFeeds(text)).replace(
    /[^\P{Cc}\n\t]|[\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    '\ufffd',
  );
}

/** Returns typed text for the field it came from. Nothing is replaced, so that the form sends the same words again. */
export function asTyped(text = ''): Html {
  return new Html(withEntities(text));
}

/** A form sends line breaks as `\r\n`. */
export function withLineFeeds(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
