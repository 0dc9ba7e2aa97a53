/** Finds card data and service keys in what a workflow was started with. Design section 7. */

const FORBIDDEN = new Set(['cardnumber', 'cardcode', 'expirationdate', 'nftoken']);

/** Deeper than any transaction: what nests further is not looked into, since it can't be handed on either. */
const DEEPEST = 64;

/**
 * Looks through a JSON value.
 * @returns the paths of fields that never may be in Temporal, without any value
 */
export function forbiddenFields(value: unknown, path = 'transaction', depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => forbiddenFields(item, `${path}[${index}]`, depth + 1));
  }
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const plain = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (FORBIDDEN.has(plain) && inner !== undefined && inner !== null) return [here];
    return forbiddenFields(inner, here, depth + 1);
  });
}

/** @returns whether a JSON value nests deeper than `DEEPEST` levels */
export function nestsTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth > DEEPEST || Object.values(value).some((inner) => nestsTooDeep(inner, depth + 1));
}
