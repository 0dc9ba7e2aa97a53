import { z } from 'zod';

/** The variables of the sandbox as a process. */
export const sandboxEnvironment = z.object({
  SANDBOX_PORT: z.coerce.number().int().min(0).max(65535).default(8090),
  SANDBOX_HOST: z.string().default('127.0.0.1'),
  SANDBOX_WEBHOOK_URL: z.url({ protocol: /^https?$/ }).optional(),
  SANDBOX_WEBHOOK_SECRET: z.string().min(1).optional(),
  DATA_DIR: z.string().default('.data'),
});
