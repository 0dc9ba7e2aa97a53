/** Creates clients of the screening service in the caller's process. */
import { OrderScreeningError } from '../../contract/errors.ts';
import type { Integration } from '../../contract/policy.ts';
import { createScreeningClient, type ScreeningClient } from '../../screening-service/index.ts';

/**
 * Returns a client of the screening service for an integration.
 * @throws OrderScreeningError `screening-service-unavailable` when this process has no API key for it
 */
export function screeningClientOf(integration: Integration): ScreeningClient {
  const apiKey = integration.apiKey();
  if (!apiKey) {
    const words =
      'This process has no API key of the screening service: set the variable that apiKeyEnv names';
    throw new OrderScreeningError('screening-service-unavailable', words);
  }
  return createScreeningClient({ ...integration, apiKey });
}
