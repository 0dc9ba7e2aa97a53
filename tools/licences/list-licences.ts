import type { LockedPackage } from './read-lockfile.ts';

/** @returns docs/licences.md, from the lockfile alone */
export function listLicences(packages: readonly LockedPackage[]): string {
  return [
    '# Licences',
    '',
    'Every package in `package-lock.json`, made by `npm run licences`; a test sees to it that it is current. Builds of one',
    'package for other platforms have its licence.',
    '',
    '## At run time',
    '',
    ...tables(packages.filter(({ dev }) => !dev)),
    '## For tests and checks only',
    '',
    ...tables(packages.filter(({ dev }) => dev)),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');
}

function tables(packages: readonly LockedPackage[]): string[] {
  const licences = [...new Set(packages.map(({ licence }) => licence ?? 'not stated'))].sort();
  return licences.flatMap((licence) => {
    const under = packages.filter((one) => (one.licence ?? 'not stated') === licence);
    const names = under.map(({ name, version }) => `\`${name}\` ${version}`);
    return [`**${licence}** (${under.length}): ${names.join(', ')}`, ''];
  });
}
