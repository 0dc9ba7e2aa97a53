import { describe, expect, it } from 'vitest';
import { changelogFaults, notesOf } from '../../tools/release/changelog.ts';
import { lockfileFaults } from '../../tools/release/lockfile.ts';

describe('the changelog of a release', () => {
  const page = (...sections: string[]) => `# Changelog\n\nWords.\n\n${sections.join('\n\n')}\n`;
  const released = '## [1.2.0] - 2026-01-31\n\n### Fixed\n\n- It.';
  const whats = (text: string) => changelogFaults(text, '1.2.0').map(({ what }) => what);

  it('has the version first, dated, with something noted, and nothing left under Unreleased', () => {
    expect(whats(page('## [Unreleased]', released, '## [1.1.0] - 2025-12-01\n\n- More.'))).toEqual([]);
    expect(whats(page('## Unreleased\n\n### Added', '## 1.2.0 - 2026-01-31\n\n- It.'))).toEqual([]);
    expect(whats(page(released, '[1.2.0]: https://example.com/1.2.0'))).toEqual([]);
  });

  it.each([
    ['something is left', page('## Unreleased\n\n- Left.', released), ['has something under Unreleased']],
    ['the version is missing', page('## Unreleased'), ['has no section for 1.2.0']],
    ['another one is newer', page('## [1.3.0] - 2026-02-01\n\n- It.', released), ['has 1.2.0, and [1.3.0]']],
    ['there is no date', page('## [1.2.0]\n\n- It.'), ['has no date for 1.2.0']],
    ['there is no such day', page('## [1.2.0] - 2026-02-31\n\n- It.'), ['has no date for 1.2.0']],
    ['nothing is noted', page('## [1.2.0] - 2026-01-31\n\n### Added\n'), ['notes nothing of 1.2.0']],
    [
      'the version only begins alike',
      page('## [1.2.0-rc.1] - 2026-01-31\n\n- It.'),
      ['has no section for 1.2.0'],
    ],
    [
      'several things are wrong',
      page('## Unreleased\n\n- Left.', '## [1.2.0]\n\n### Added'),
      ['has something under Unreleased', 'has no date for 1.2.0', 'notes nothing of 1.2.0'],
    ],
  ])('stands in the way when %s', (_when, text, expected) => {
    const found = whats(text);
    expect(found).toHaveLength(expected.length);
    for (const [index, words] of expected.entries()) expect(found[index]).toContain(words);
  });

  it('gives the notes of a version, headings included', () => {
    expect(notesOf(page('## [Unreleased]', released), '1.2.0')).toBe('### Fixed\n\n- It.');
    expect(notesOf(page(released), '9.9.9')).toBeUndefined();
  });
});

describe('the lockfile of a release', () => {
  const manifest = {
    name: 'small',
    version: '1.2.0',
    dependencies: { zod: '4.6.7' },
    engines: { node: '>=20' },
  };
  const lock = {
    name: 'small',
    version: '1.2.0',
    packages: { '': manifest, 'node_modules/zod': { version: '4.6.7' } },
  };
  const whats = (other: object, otherLock: object = lock) =>
    lockfileFaults(JSON.stringify(other), JSON.stringify(otherLock)).map(({ what }) => what);

  it('fits package.json', () => {
    expect(whats(manifest)).toEqual([]);
    expect(whats({ ...manifest, scripts: { test: 'true' } })).toEqual([]);
  });

  it('stands in the way when package.json has something else', () => {
    expect(whats({ ...manifest, version: '1.3.0' })).toEqual([
      'package-lock.json has another version than package.json',
    ]);
    expect(whats({ ...manifest, dependencies: {}, engines: {} })).toEqual([
      'package-lock.json has another engines, dependencies than package.json',
    ]);
    expect(whats(manifest, { ...lock, version: '1.1.0' })).toEqual([
      'package-lock.json has another version than package.json',
    ]);
  });

  it('stands in the way when it locks another version than the pinned one', () => {
    const packages = { ...lock.packages, 'node_modules/zod': { version: '4.6.6' } };
    expect(whats(manifest, { ...lock, packages })).toEqual([
      "package-lock.json doesn't lock the pinned version of zod",
    ]);
  });
});
