import { localApiAddress } from '../api-address.ts';
import type { Config } from '../config.ts';

/** Where the embedded UI, in a browser of this machine, has payloads decrypted. */
export function codecEndpoint({ api, codec }: Pick<Config, 'api' | 'codec'>): string {
  return `${localApiAddress(api)}/codec/${codec.token ?? ''}`;
}

/** Where the sandbox tells the API about reviews: its known default template has no headers, so the secret is in the path. */
export function webhookUrl({ api, webhookSecrets }: Pick<Config, 'api' | 'webhookSecrets'>): string {
  return `${localApiAddress(api)}/v1/webhooks/default/${encodeURIComponent(webhookSecrets[0] ?? '')}`;
}
