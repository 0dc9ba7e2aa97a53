import { configure } from 'safe-stable-stringify';
import { z } from 'zod';
import { shownPath } from '../card-data/card-data.ts';
import { isRecord } from '../contract/values.ts';

/** The spelling and path used to send create-transaction. Both spellings are always accepted as input. */
export type Dialect = 'definition' | 'sample';

/**
 * Assumption «spellings»: the two spellings of field names. The screening service's definition has `currency_code`, `nf-token`, `3d_secure`; its samples have
 * `currencyCode`, `nfToken`, `3dSecure`; it doesn't document which are accepted. We read both and use the definition's internally.
 * The names are derived from the schemas, so there is no list to maintain.
 */
interface Spelling {
  /** Maps a name in the definition to the field's schema. */
  fields: ReadonlyMap<string, z.core.$ZodType>;
  /** Maps a name in the samples to the name in the definition. */
  definitions: ReadonlyMap<string, string>;
}

const spellings = new WeakMap<z.ZodObject, Spelling>();

function spellingOf(schema: z.ZodObject): Spelling {
  const known = spellings.get(schema);
  if (known !== undefined) return known;
  const fields = new Map(Object.entries<z.core.$ZodType>(schema.shape));
  const definitions = new Map([...fields.keys()].map((name) => [sampleName(name), name]));
  spellings.set(schema, { fields, definitions });
  return { fields, definitions };
}

/** Compares the values of a field given in both spellings. Bounded, since requests may be nested very deeply. */
const stringify = configure({ maximumDepth: 8 });

/** Returns the samples' spelling of a name: `nf-token` → `nfToken`, `last_sign_in` → `lastSignIn`. */
function sampleName(name: string): string {
  return name.replace(/[-_]+(.)/g, (_, next: string) => next.toUpperCase());
}

/** A validation error at a path in definition spelling. The path is converted to the sender's spelling later. */
export interface Finding {
  path: readonly PropertyKey[];
  message: string;
}

/** A body in definition spelling. */
export interface Spelled {
  value: unknown;
  findings: Finding[];
  /** The paths of fields that the schema lacks and that were removed. */
  dropped: PropertyKey[][];
  /** Returns a path in the sender's spelling: `lineItems[0].price`. */
  shownPath(path: readonly PropertyKey[]): string;
}

/**
 * Converts a body in either spelling, or a mixture, to definition spelling. A field given in both spellings with different
 * values is a finding. `undefined` fields are dropped.
 * @param unknownFields whether fields that the schema lacks are removed, or stay unchanged
 */
export function toDefinitionSpelling(
  schema: z.ZodType,
  body: unknown,
  unknownFields: 'drop' | 'keep' = 'keep',
): Spelled {
  const findings: Finding[] = [];
  const dropped: PropertyKey[][] = [];
  const sent = new Map<string, string>();

  function read(value: unknown, schema: z.core.$ZodType, path: PropertyKey[]): unknown {
    if (schema instanceof z.ZodExactOptional) return read(value, schema.unwrap(), path);
    if (schema instanceof z.ZodArray && Array.isArray(value)) {
      return value.map((item, index) => read(item, schema.element, [...path, index]));
    }
    if (!(schema instanceof z.ZodObject) || !isRecord(value)) return value;
    const spelling = spellingOf(schema);
    const fields = new Map<string, unknown>();
    for (const [name, given] of Object.entries(value)) {
      if (given === undefined) continue;
      const definition = spelling.definitions.get(name) ?? name;
      const here = [...path, definition];
      const inside = spelling.fields.get(definition);
      if (inside === undefined && unknownFields === 'drop') {
        dropped.push(here);
        continue;
      }
      const field = inside === undefined ? given : read(given, inside, here);
      if (fields.has(definition) && stringify(fields.get(definition)) !== stringify(field)) {
        findings.push({ path: here, message: 'is given in two spellings with different values; send one' });
      }
      // Store only names that differ: a body of a megabyte may have a hundred thousand fields.
      if (name !== definition || fields.has(definition)) sent.set(JSON.stringify(here), name);
      fields.set(definition, field);
    }
    // Unlike an assignment, this creates an ordinary field even if its name is __proto__.
    return Object.fromEntries(fields);
  }

  return {
    value: read(body, schema, []),
    findings,
    dropped,
    shownPath: (path) =>
      shownPath(
        path.map((part, index) =>
          sent.size === 0 ? part : (sent.get(JSON.stringify(path.slice(0, index + 1))) ?? part),
        ),
      ),
  };
}

export function toSampleSpelling(schema: z.core.$ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodExactOptional) return toSampleSpelling(schema.unwrap(), value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => toSampleSpelling(schema.element, item));
  }
  if (!(schema instanceof z.ZodObject) || !isRecord(value)) return value;
  const { fields } = spellingOf(schema);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const field = fields.get(name);
      return field === undefined ? [name, inner] : [sampleName(name), toSampleSpelling(field, inner)];
    }),
  );
}
