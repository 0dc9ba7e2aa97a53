/** `doctor`: what is wrong with a set-up, and what to do about it. */
import type { Command } from 'commander';
import { z } from 'zod';
import { type Config, inspectConfig } from '../../config/index.ts';
import { LEAST_WEBHOOK_SECRET, localApiAddress } from '../../config/load-config.ts';
import type { FieldError } from '../../contract/errors.ts';
import { localEnvironment } from '../../process/local.ts';
import { type CommandTools, defineCommand, option } from '../define-command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Colors } from '../output.ts';
import { checkApi, checkEvents, checkService } from './check-http.ts';
import { checkCardStash, checkPayloadKeys } from './check-stored.ts';
import { checkTemporal } from './check-temporal.ts';
import {
  counted,
  type Finding,
  failed,
  find,
  ok,
  skipped,
  type Verdict,
  type Verdicts,
  warning,
} from './finding.ts';

const httpOrigin = z.string().refine((written) => {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  return url !== undefined && /^https?:$/.test(url.protocol) && url.origin === written.replace(/\/$/, '');
}, 'must be an address such as http://127.0.0.1:8080');

export function doctorCommand(program: Command, { env, output }: CommandTools): void {
  defineCommand(program, {
    name: 'doctor',
    summary: 'Look for what is wrong with the set-up, and say what to do',
    more: `Run it with the settings of the API and the workers. It changes nothing: it asks the screening service for a
transaction that doesn't exist, writes a key of one second's life to Redis, and sends the events receiver one signed
event of the type order-screening.ping. It shows no key, secret or personal data.
Exit code 6 when something is wrong; warnings alone give 0.`,
    options: {
      api: option(
        '--api <address>',
        "the API's address; from API_HOST and API_PORT unless given",
        httpOrigin,
      ),
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
      output.answer({ errors, warnings, findings }, () => inWords(findings, errors, warnings, output.colors));
      return errors === 0 ? EXIT.ok : EXIT.errorFound;
    },
  });
}

async function examine(processEnv: NodeJS.ProcessEnv, api: string | undefined): Promise<Finding[]> {
  const { env, sandbox } = localEnvironment(processEnv);
  const { config, fieldErrors } = inspectConfig(env);
  const address = api ?? (sandbox || env.API_HOST || env.API_PORT ? localApiAddress(config.api) : undefined);
  /** A check is skipped when a variable that begins with `settings` has an error. */
  type Check = readonly [name: string, settings: string, look: () => Verdicts | Promise<Verdicts>];
  const checks: readonly Check[] = [
    ['temporal', 'TEMPORAL_', () => checkTemporal(config)],
    ['payload-keys', 'PAYLOAD_KEYS', () => checkPayloadKeys(config)],
    ['screening-service', 'SCREENING_CONFIG', () => checkService(config)],
    ['api', 'API_', () => checkApi({ list: env.API_KEYS, file: config.api.keysFile }, address)],
    ['api-keys', 'API_KEYS', () => checkApiKeys(config)],
    ['webhook-secrets', 'WEBHOOK_SECRETS', () => checkWebhookSecrets(config)],
    ['plaintext', 'ALLOW_PLAINTEXT', () => checkPlaintext(config)],
    ['events', 'EVENTS_', () => checkEvents(config)],
  ];
  const run = ([name, settings, look]: Check) => {
    const isWrong = fieldErrors.some(({ path }) => path.startsWith(settings));
    return find(name, isWrong ? () => skipped('not looked at: its settings have errors') : look);
  };
  const groups = await Promise.all(checks.map(run));
  // Redis has a second to answer: it is asked when this process has nothing else to do.
  const stash = await run(['card-stash', 'CARD_STASH_', () => checkCardStash(config, sandbox)]);
  return [...(await find('settings', () => checkSettings(fieldErrors))), ...groups.flat(), ...stash];
}

function inWords(findings: readonly Finding[], errors: number, warnings: number, colors: Colors): string {
  const marks: Record<Finding['status'], string> = {
    ok: colors.green('ok     '),
    warning: colors.yellow('warning'),
    error: colors.red('error  '),
    skipped: colors.dim('-      '),
  };
  const lines = findings.map(({ check, status, what, todo }) => {
    const line = `${marks[status]}  ${colors.dim(check)}: ${what}`;
    return todo === undefined ? line : `${line}\n         ${todo}.`;
  });
  return [...lines, '', `${counted(errors, 'error')}, ${counted(warnings, 'warning')}.`].join('\n');
}

/** Every error that would stop a process from starting: keys that aren't well formed, `API_KEYS` that are missing … */
function checkSettings(errors: readonly FieldError[]): Verdicts {
  if (errors.length === 0) return ok('every variable and the policy file can be read');
  return errors.map(({ path, message }) =>
    failed(`${path} ${message}`, `Correct ${path}: a process that needs it does not start`),
  );
}

/** Said each time: what was true of a mesh may no longer be so. */
export function checkPlaintext({ allowPlaintext }: Pick<Config, 'allowPlaintext'>): Verdict[] {
  return allowPlaintext.map(({ name, reason }) =>
    warning(
      `${name} may go in plain, since ALLOW_PLAINTEXT says: ${reason}`,
      `See that it is still so, or use TLS and take ${name} out of ALLOW_PLAINTEXT`,
    ),
  );
}

/** Of a key that came as its hash the length isn't known. */
function checkApiKeys({ api: { keys } }: Config): Verdict {
  if (keys.length === 0) return skipped('API_KEYS is not set: whoever reaches the API may do everything');
  const short = new Set(keys.filter((key) => key.short).map(({ name }) => name));
  if (short.size === 0) return ok(counted(keys.length, 'API key'));
  return warning(
    `keys in API_KEYS have fewer than 24 characters: ${[...short].join(', ')}`,
    'Replace each by one from `openssl rand -hex 24`, as docs/security.md says under «Changing keys»',
  );
}

/** Without a secret no webhook is taken, and a short one can be guessed. */
function checkWebhookSecrets({ webhookSecrets }: Config): Verdict {
  if (webhookSecrets.length === 0) {
    return warning(
      'WEBHOOK_SECRETS is not set: every webhook is refused, and reviews are resolved by polls alone',
      'Set WEBHOOK_SECRETS to a long random text, and the same at the screening service',
    );
  }
  if (webhookSecrets.every((secret) => secret.length >= LEAST_WEBHOOK_SECRET)) {
    return ok(counted(webhookSecrets.length, 'webhook secret'));
  }
  return warning(
    `a secret in WEBHOOK_SECRETS has fewer than ${LEAST_WEBHOOK_SECRET} characters`,
    'Add a long random one, change it at the screening service, then remove the short one',
  );
}
