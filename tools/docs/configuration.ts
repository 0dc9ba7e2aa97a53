/** Writes `docs/configuration.md` from the schema of the environment: `npm run docs`. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type DocumentedVariable, documentedVariables, type Process } from '../../src/config/environment.ts';

/** How each process is started. */
const COMMANDS: Record<Process, string> = {
  worker: '`npm run worker`',
  api: '`npm run api`',
  start: '`npm start`',
  setup: '`npm run setup:temporal`',
  temporal: '`npm run temporal`',
  sandbox: '`npm run sandbox`',
};

/** @returns the page, in Markdown */
export function configurationPage(): string {
  const rows = documentedVariables().map(row);
  const processes = Object.entries(COMMANDS).map(([name, command]) => `${name} is ${command}`);
  return `# Configuration

\`npm run docs\` generates this page from the schema of the environment, \`src/config/environment.ts\`. Change it there.

A process reads its settings from the environment once, when it starts; an empty variable counts as not set. If any is wrong or
missing, it lists all errors, without values, and does not start. Without a default (–) a variable is optional, unless the text or an
error says otherwise. Secrets are marked «secret»: keep them in the secret store of your platform, not in files of the project.
[policy.md](policy.md) describes the policy file.

Read by: ${processes.join(', ')}. \`npm run serve\` reads what worker and api read.

| variable | default | read by | |
|---|---|---|---|
${rows.join('\n')}
`;
}

function row({ name, about, fallback, readBy, secret }: DocumentedVariable): string {
  const standard = fallback === undefined ? '–' : `\`${fallback}\``;
  const words = secret === true ? `${about} (secret)` : about;
  return `| \`${name}\` | ${standard} | ${readBy.join(', ')} | ${words.replaceAll('|', '\\|')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await writeFile(
    fileURLToPath(new URL('../../docs/configuration.md', import.meta.url)),
    configurationPage(),
  );
}
