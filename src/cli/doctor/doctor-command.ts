/** `doctor`: checks a set-up, and says how to fix what is wrong. */
import type { Command } from 'commander';
import pc from 'picocolors';
import { z } from 'zod';
import { type Config, inspectConfig, isSet } from '../../config/index.ts';
import { LEAST_WEBHOOK_SECRET } from '../../config/live.ts';
import { localApiAddress } from '../../config/load-config.ts';
import type { FieldError } from '../../contract/errors.ts';
import { localEnvironment } from '../../platform/local.ts';
import { type CommandTools, defineCommand, option } from '../define-command.ts';
import { EXIT } from '../exit-codes.ts';
import { checkCardStash } from './check-card-stash.ts';
import { checkApi, checkEvents, checkService } from './check-http.ts';
import { checkTemporal } from './check-temporal.ts';
import { counted, type Finding, failed, find, ok, skipped, warning } from './finding.ts';

const httpOrigin = z.string().refine((written) => {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === written.replace(/\/$/, '');
}, 'must be an address such as http://127.0.0.1:8080');

export function doctorCommand(program: Command, { env, output }: CommandTools): void {
  defineCommand(program, {
    name: 'doctor',
    summary: 'Check the set-up, and say how to fix what is wrong',
    more: `Run it with the settings of the API and the workers. It changes nothing: it asks the screening service for a
transaction that doesn't exist, writes a key that expires after one second to Redis, and sends the events receiver one signed
event of the type order-screening.ping. It shows no key, secret or personal data.
Exit code 6 if there is an error; warnings alone give 0.`,
    options: {
      api: option(httpOrigin, 'address', "the API's address; defaults to API_HOST and API_PORT"),
    },
    examples: [
      'doctor',
      'doctor --api https://screening.example.com',
      'doctor --json | jq \'.findings[] | select(.status == "error")\'',
    ],
    run: async ({ api }) => {
      const findings = await examine(env, api?.replace(/\/$/, ''));
      const errors = findings.filter(({ status }) => status === 'error').length;
      const warnings = findings.filter(({ status }) => status === 'warning').length;
      output.answer({ errors, warnings, findings }, () => inWords(findings, errors, warnings));
      return errors === 0 ? EXIT.ok : EXIT.errorFound;
    },
  });
}

async function examine(processEnv: NodeJS.ProcessEnv, api: string | undefined): Promise<Finding[]> {
  const { env, sandbox } = localEnvironment(processEnv);
  const { config, fieldErrors } = inspectConfig(env);
  const isMade = sandbox && !isSet(processEnv.WEBHOOK_SECRETS);
  const address = api ?? (sandbox || env.API_HOST || env.API_PORT ? localApiAddress(config.api) : undefined);
  /** A check is skipped when a variable that begins with `settings` has an error. */
  const run = (name: string, settings: string, look: Parameters<typeof find>[1]) => {
    const isWrong = fieldErrors.some(({ path }) => path.startsWith(settings));
    return find(name, isWrong ? () => skipped('not checked: its settings have errors') : look);
  };
  const groups = await Promise.all([
    run('temporal', 'TEMPORAL_', () => checkTemporal(config)),
    run('screening-service', 'SCREENING_CONFIG', () => checkService(config)),
    run('api', 'API_', () => checkApi({ list: env.API_KEYS, file: config.api.keysFile }, address)),
    run('webhook-secrets', 'WEBHOOK_SECRETS', () => checkWebhookSecrets(config, isMade)),
    run('plaintext', 'ALLOW_PLAINTEXT', () => checkPlaintext(config)),
    run('events', 'EVENTS_', () => checkEvents(config)),
  ]);
  // Last, when this process is idle, since Redis has only one second to answer.
  const stash = await run('card-stash', 'CARD_STASH_', () => checkCardStash(config, sandbox));
  return [...(await find('settings', () => checkSettings(fieldErrors))), ...groups.flat(), ...stash];
}

function inWords(findings: readonly Finding[], errors: number, warnings: number): string {
  const marks: Record<Finding['status'], string> = {
    ok: pc.green('ok     '),
    warning: pc.yellow('warning'),
    error: pc.red('error  '),
    skipped: pc.dim('-      '),
  };
  const lines = findings.map(({ check, status, what, todo }) => {
    const line = `${marks[status]}  ${pc.dim(check)}: ${what}`;
    return todo === undefined ? line : `${line}\n         ${todo}.`;
  });
  return [...lines, '', `${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`].join('\n');
}

/** Reports every settings error that keeps a process from starting, such as malformed keys or missing `API_KEYS`. */
function checkSettings(errors: readonly FieldError[]): Finding | Finding[] {
  if (errors.length === 0) return ok('every variable and the policy file can be read');
  return errors.map(({ path, message }) =>
    failed(`${path} ${message}`, `Correct ${path}: a process that needs it does not start`),
  );
}

/** Warns on every run: the stated reason, such as a service mesh, may no longer hold. */
export function checkPlaintext({ allowPlaintext }: Pick<Config, 'allowPlaintext'>): Finding[] {
  return allowPlaintext.map(({ name, reason }) =>
    warning(
      `${name} may be unencrypted, since ALLOW_PLAINTEXT says: ${reason}`,
      `Check that this is still true, or use TLS and remove ${name} from ALLOW_PLAINTEXT`,
    ),
  );
}

/**
 * Warns of missing secrets, without which the API refuses every webhook, and of short ones, which can be guessed.
 * @param isMade `npm start` makes its own one
 */
export function checkWebhookSecrets(
  { webhookSecrets, ownWebhookSecrets, integrations }: Config,
  isMade: boolean,
): Finding {
  if (isMade) return skipped('not set here: `npm start` makes one that only its own sandbox knows');
  const secrets = [...webhookSecrets, ...[...ownWebhookSecrets.values()].flat()];
  if (webhookSecrets.length === 0 && ownWebhookSecrets.size < integrations.size) {
    return warning(
      'WEBHOOK_SECRETS is not set here: an API with these settings refuses every webhook, and reviews are resolved by polls alone',
      'Set WEBHOOK_SECRETS to a long random text, and the same at the screening service',
    );
  }
  if (secrets.every((secret) => secret.length >= LEAST_WEBHOOK_SECRET)) {
    return ok(counted(secrets.length, 'webhook secret'));
  }
  return warning(
    `a webhook secret has fewer than ${LEAST_WEBHOOK_SECRET} characters`,
    'Add a long random one, change it at the screening service, then remove the short one',
  );
}
