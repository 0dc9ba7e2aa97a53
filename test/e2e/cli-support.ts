import { withEmail } from '../fixtures/transactions.ts';
import { type CliRun, runCli } from './run-cli.ts';
import type { Deployment } from './support.ts';

/** What stands in the test order and must not stand in a list. */
export const PERSONAL = /@example\.com|203\.0\.113\.7|Ada|Main Street|555 0100/;

/** The input of `screen`, for the customer whose decision is wanted. */
export function orderJson(email: string): string {
  return JSON.stringify({ transaction: withEmail(email) });
}

/** The command line with the settings of a deployment. */
export function cliOf(deployment: () => Deployment) {
  return {
    cli: (...args: string[]): Promise<CliRun> => runCli(args, deployment().settings),
    screen: (orderId: string, email: string, ...args: string[]): Promise<CliRun> =>
      runCli(['screen', orderId, ...args], deployment().settings, orderJson(email)),
  };
}
