/** HTML that can't be broken by what it shows: every value is escaped unless it is HTML made here. */

/** Markup that is safe as it stands. Only the `html` tag makes it. */
export class Html {
  readonly markup: string;

  private constructor(markup: string) {
    this.markup = markup;
  }

  /** @see html */
  static from(parts: TemplateStringsArray, values: readonly Shown[]): Html {
    return new Html(parts.map((part, at) => part + (at < values.length ? write(values[at]) : '')).join(''));
  }
}

/** What may stand in a template; `undefined` and `false` show nothing. */
export type Shown = Html | string | number | undefined | false | readonly Shown[];

/** Tag of a template whose values are escaped. They stand in text, or in attributes between double quotes. */
export function html(parts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  return Html.from(parts, values);
}

function write(value: Shown): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'object') return value.map(write).join('');
  return escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Also takes away how text could hide what follows it: controls and marks of writing direction. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
    .replace(/[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
