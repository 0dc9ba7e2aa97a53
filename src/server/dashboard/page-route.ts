/** What the routes of the pages share. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../../config/index.ts';
import type { FindIntegration } from '../../contract/policy.ts';
import type { Log } from '../../platform/log.ts';
import type { OrderScreening } from '../../starter.ts';
import type { Admission } from '../api/callers.ts';
import type { SignIn } from '../api/oidc.ts';
import type { RefusedCheckouts } from '../api/refused-checkouts.ts';
import type { TemporalUi } from './addresses.ts';
import type { Frame } from './layout.ts';
import type { Integrations, QueueStore, Standing } from './queue-store.ts';
import type { Now } from './words.ts';

export interface QueueOptions extends Admission {
  orderScreening: OrderScreening;
  /** As in `ApiOptions`. */
  findIntegration?: FindIntegration;
  /** The Temporal UI that the pages link to. Absent: no links. */
  temporalUi?: TemporalUi;
  log: Log;
  /** All configured integrations. The queue page searches for an order in each. */
  integrations?: readonly string[];
  /** Time zone of the pages. Default: UTC. */
  timeZone?: string;
  /** As in `ApiOptions`. */
  signIn?: SignIn;
  /** The checkouts that this process refused. */
  refused: Pick<RefusedCheckouts, 'of'>;
}

export interface Pages {
  options: QueueOptions;
  store: QueueStore;
  now: () => Now;
  /** The integrations that the caller's key is for. */
  allowed: (request: FastifyRequest) => Integrations;
  /** @returns the frame of a page @param standing if it is read already @param at the time that the page is of */
  frame: (request: FastifyRequest, standing?: Standing, at?: Now) => Promise<Frame & { now: Now }>;
}

/** Route options of a page or its form, with the scope that a key needs. @param ofMany it lists or counts orders */
export function pageFor(scope: Scope, ofMany = false) {
  return { schema: { hide: true }, config: { scope, ofMany } } as const;
}

export function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page);
}
