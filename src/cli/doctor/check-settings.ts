import type { Config } from '../../config.ts';
import type { Fault } from '../../orders/errors.ts';
import { counted, type Finding, finder } from './finding.ts';

/** Shorter secrets can be guessed. */
const LEAST_SECRET = 16;

/** Every fault that would stop a process from starting: keys that aren't well formed, `API_KEYS` that are missing … */
export function checkSettings(faults: readonly Fault[]): Finding[] {
  const { ok, fault } = finder('settings');
  if (faults.length === 0) return [ok('every variable and the policy file can be read')];
  return faults.map(({ path, message }) =>
    fault(`${path} ${message}`, `Correct ${path}: a process that needs it does not start`),
  );
}

/** Without a secret no webhook is taken, and a short one can be guessed. */
export function checkWebhookSecrets({ webhookSecrets }: Config): Finding[] {
  const { ok, warning } = finder('webhook-secrets');
  if (webhookSecrets.length === 0) {
    return [
      warning(
        'WEBHOOK_SECRETS is not set: every webhook is refused, and reviews are resolved by polls alone',
        'Set WEBHOOK_SECRETS to a long random text, and the same at the screening service',
      ),
    ];
  }
  if (webhookSecrets.some((secret) => secret.length < LEAST_SECRET)) {
    return [
      warning(
        `a secret in WEBHOOK_SECRETS has fewer than ${LEAST_SECRET} characters`,
        'Add a long random one, change it at the screening service, then remove the short one',
      ),
    ];
  }
  return [ok(counted(webhookSecrets.length, 'webhook secret'))];
}
