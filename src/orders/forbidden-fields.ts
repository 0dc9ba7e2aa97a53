/** Finds card data and service keys in what a workflow was started with. Design section 7. */

const FORBIDDEN = new Set(['cardnumber', 'cardcode', 'expirationdate', 'nftoken']);

/**
 * Looks through a JSON value, however deep.
 * @returns the paths of fields that never may be in Temporal, without any value
 */
export function forbiddenFields(value: unknown, path = 'transaction'): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => forbiddenFields(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    const plain = key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
    if (FORBIDDEN.has(plain) && inner !== undefined && inner !== null) return [here];
    return forbiddenFields(inner, here);
  });
}
