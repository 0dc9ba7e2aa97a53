/** The environment of a drill's processes: nothing of what this shell is set up for reaches them. */
import { documentedVariables } from '../../src/config/environment.ts';

/** What names something real. */
const ADDRESSES = [
  'SCREENING_BASE_URL',
  'SCREENING_PORTAL_BASE_URL',
  'SCREENING_CONFIG',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_CONFIG_FILE',
  'TEMPORAL_PROFILE',
  'EVENTS_URL',
  'CARD_STASH_URL',
];
const OURS = /^(?:SCREENING|TEMPORAL)_/;

/** @returns the names of the variables that are set to something real; a drill breaks only what it has started itself */
export function realAddresses(env: NodeJS.ProcessEnv): string[] {
  return ADDRESSES.filter((name) => (env[name] ?? '') !== '');
}

/** @returns the environment without any setting of this project or of Temporal's tools */
export function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set(documentedVariables().map(({ name }) => name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !known.has(name) && !OURS.test(name)));
}
