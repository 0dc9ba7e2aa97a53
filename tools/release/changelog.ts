/** What CHANGELOG.md must say, as Keep a Changelog has it. */
import type { Fault } from './fault.ts';

interface Section {
  /** `## ` left out. */
  title: string;
  text: string;
}

const UNRELEASED = /^\[?unreleased\]?$/i;
const VERSION = /^\[?(\d+\.\d+\.\d+[\w.+-]*)\]?(?: - (.*))?$/;

function sectionsOf(text: string): Section[] {
  const [, ...sections] = `\n${text}`.split(/\n## /);
  return sections.map((section) => {
    const [title = '', ...lines] = section.split('\n');
    return { title: title.trim(), text: lines.join('\n').trim() };
  });
}

/** A section's lines without its headings, and without the addresses that its links have at the end of the page. */
function entriesOf({ text }: Section): string[] {
  return text.split('\n').filter((line) => line.trim() !== '' && !/^### |^\[[^\]]+\]: /.test(line));
}

/** @returns what is noted of a version, in Markdown; undefined when it has no section */
export function notesOf(text: string, version: string): string | undefined {
  return sectionsOf(text).find(({ title }) => VERSION.exec(title)?.[1] === version)?.text;
}

/**
 * The rules: nothing is left under Unreleased; the first version of the page is the one to be released, with its date, as
 * `## [1.2.3] - 2026-01-31`; and something is noted of it.
 */
export function changelogFaults(text: string, version: string): Fault[] {
  const sections = sectionsOf(text);
  const unreleased = sections.filter(({ title }) => UNRELEASED.test(title));
  const left = unreleased.flatMap(entriesOf).length > 0;
  const [first] = sections.filter((section) => !unreleased.includes(section));
  const [, newest, date] = VERSION.exec(first?.title ?? '') ?? [];
  const heading = `## [${version}] - <date>`;
  const faults: Fault[] = [];
  if (left) {
    faults.push({
      what: 'CHANGELOG.md has something under Unreleased',
      todo: `Move it under "${heading}", or out of this release`,
    });
  }
  if (first === undefined || newest !== version) {
    const what =
      notesOf(text, version) === undefined
        ? `CHANGELOG.md has no section for ${version}`
        : `CHANGELOG.md has ${version}, and ${first?.title} before it`;
    faults.push({
      what,
      todo: `Let "${heading}" be its first version, or correct the version in package.json`,
    });
    return faults;
  }
  if (date === undefined || !isDate(date)) {
    faults.push({ what: `CHANGELOG.md has no date for ${version}`, todo: 'Write it as 2026-01-31' });
  }
  if (entriesOf(first).length === 0) {
    faults.push({ what: `CHANGELOG.md notes nothing of ${version}`, todo: 'Say there what has changed' });
  }
  return faults;
}

function isDate(date: string): boolean {
  const at = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${date}T`);
}
