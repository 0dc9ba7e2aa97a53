/**
 * Sign-in to the pages with OpenID Connect. A session is an encrypted cookie: the API keeps nothing, and any of its processes can read it.
 * What a role may do is looked up at each request, so a changed setting holds at once.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader, EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';
import * as oidc from 'openid-client';
import { z } from 'zod';
import { SIGNED_IN, type SignInSettings } from '../../config/index.ts';
import { actorSchema } from '../../contract/fields.ts';
import { isLoopback } from '../../contract/values.ts';
import type { Log } from '../../platform/log.ts';
import { HttpError } from './problems.ts';

const SESSION = 'order-screening-session';
const SESSION_SECONDS = 8 * 3_600;
/** Between the way to the provider and the way back. Several windows may sign in at once; more cookies would exceed the limit of a request's head. */
const MOST_PENDING = 8;
const pendingOf = (state: string) => `order-screening-sign-in-${state.slice(0, 1)}`;
const PENDING_SECONDS = 10 * 60;
const PROVIDER_WITHIN_SECONDS = 5;
/** Of the address to come back to, in characters. Browsers drop a cookie of more than 4 KB. */
const TO_LIMIT = 2_000;
export const CALLBACK = '/sign-in/callback';
export const SIGN_OUT = '/sign-out';
export const SIGNED_OUT = '/signed-out';

const sessionSchema = z.object({ person: actorSchema, roles: z.array(z.string()) });
const pendingSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
});
const personSchema = z
  .object({
    sub: z.string(),
    email: z.string().optional().catch(undefined),
    email_verified: z.boolean().optional().catch(undefined),
    preferred_username: z.string().optional().catch(undefined),
  })
  .transform(({ sub, email, email_verified, preferred_username }) =>
    email !== undefined && email_verified !== false ? email : (preferred_username ?? sub),
  )
  .pipe(actorSchema);
const rolesSchema = z.union([z.array(z.string()), z.string().transform((role) => [role])]).catch([]);

export class SignIn {
  readonly #settings: SignInSettings;
  readonly #log: Log;
  #provider: Promise<oidc.Configuration> | undefined;
  #begun = 0;

  constructor(settings: SignInSettings, log: Log) {
    this.#settings = settings;
    this.#log = log;
  }

  /** Admits the person whose session the request has. @returns whether it has a valid one */
  async admits(request: FastifyRequest): Promise<boolean> {
    const found = sessionSchema.safeParse(await this.#opened(request, SESSION)).data;
    return found !== undefined && this.#admit(request, found.person, found.roles);
  }

  /** @returns the address at the provider, which leads back to the page that `to` of the query names */
  async begin({ query }: FastifyRequest, reply: FastifyReply): Promise<string> {
    const provider = await this.#reached();
    const { pagesUrl, scope } = this.#settings;
    this.#begun += 1;
    const pending = {
      // The first digit names the cookie: a newer sign-in replaces the one eight before it.
      state: `${this.#begun % MOST_PENDING}${oidc.randomState()}`,
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
      to: pageIn(query, pagesUrl),
    };
    const address = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: `${pagesUrl}${CALLBACK}`,
      scope,
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    });
    const name = pendingOf(pending.state);
    reply.header('set-cookie', await this.#cookie(name, pending, PENDING_SECONDS, CALLBACK));
    return address.href;
  }

  /** @throws HttpError `sign-in-failed`, `no-role`, `sign-in-unavailable` */
  async finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { pagesUrl, rolesClaim } = this.#settings;
    const answer = new URL(request.url, `${pagesUrl}/`);
    const name = pendingOf(answer.searchParams.get('state') ?? '');
    const pending = pendingSchema.safeParse(await this.#opened(request, name)).data;
    if (pending === undefined) throw new HttpError('sign-in-failed');
    const provider = await this.#reached();
    const granted = oidc.authorizationCodeGrant(provider, answer, {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    });
    const tokens = await granted.catch((error: unknown) => {
      // The error's own text may quote the answer.
      this.#log.warn({ reason: reasonOf(error) }, 'a sign-in failed');
      throw new HttpError('sign-in-failed');
    });
    const claims = tokens.claims() ?? {};
    const person = personSchema.safeParse(claims).data;
    const roles = rolesSchema.parse(Reflect.get(claims, rolesClaim));
    if (person === undefined || !this.#admit(request, person, roles)) throw new HttpError('no-role');
    const known = roles.filter((role) => this.#settings.roles.has(role));
    reply.header('set-cookie', [
      await this.#cookie(SESSION, { person, roles: known }, SESSION_SECONDS),
      this.#written(name, '', 0, CALLBACK),
    ]);
    return reply.redirect(pending.to, 303);
  }

  end(reply: FastifyReply): FastifyReply {
    return reply.header('set-cookie', this.#written(SESSION, '', 0)).redirect(SIGNED_OUT, 303);
  }

  #admit(request: FastifyRequest, person: string, roles: readonly string[]): boolean {
    request.pageUser = person;
    const limits = roles.flatMap((role) => this.#settings.roles.get(role) ?? []);
    if (limits.length === 0) return false;
    const scopes = [...new Set(limits.flatMap((one) => one.scopes))];
    // Otherwise a role for one integration would give its scopes for another role's integrations, too.
    const [first, ...others] = limits.flatMap(({ integrations }) => (integrations ? [integrations] : []));
    const integrations = first?.filter((one) => others.every((list) => list.includes(one)));
    request.apiKey = { name: SIGNED_IN, scopes, ...(integrations !== undefined && { integrations }) };
    return true;
  }

  /** Asks the provider for its addresses, once. @throws HttpError `sign-in-unavailable` */
  #reached(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    const plain = url.protocol === 'http:' && isLoopback(url.hostname);
    this.#provider ??= oidc
      .discovery(url, clientId, clientSecret, clientSecret === undefined ? oidc.None() : undefined, {
        timeout: PROVIDER_WITHIN_SECONDS,
        execute: plain ? [oidc.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        this.#provider = undefined;
        this.#log.error({ reason: reasonOf(error) }, 'the sign-in provider does not answer');
        throw new HttpError('sign-in-unavailable');
      });
    return this.#provider;
  }

  async #cookie(name: string, content: JWTPayload, seconds: number, path = '/'): Promise<string> {
    const { issuer, sessionKeys } = this.#settings;
    const [first] = sessionKeys;
    if (first === undefined) throw new TypeError('the settings have a session key');
    const sealed = await new EncryptJWT(content)
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: first.id })
      .setExpirationTime(`${seconds} s`)
      .setIssuer(issuer)
      .setAudience(name)
      .encrypt(first.key);
    return this.#written(name, sealed, seconds, path);
  }

  /** `Lax`: the way back from the provider is a navigation from another site. */
  #written(name: string, value: string, seconds: number, path = '/'): string {
    const secure = this.#settings.pagesUrl.startsWith('https:') ? '; Secure' : '';
    return `${name}=${value}; Max-Age=${seconds}; Path=${path}; HttpOnly; SameSite=Lax${secure}`;
  }

  async #opened(request: FastifyRequest, name: string): Promise<unknown> {
    const { issuer, sessionKeys } = this.#settings;
    const value = cookieIn(request, name);
    if (value === undefined) return undefined;
    try {
      const key = sessionKeys.find(({ id }) => id === decodeProtectedHeader(value).kid)?.key;
      if (key === undefined) return undefined;
      return (await jwtDecrypt(value, key, { issuer, audience: name })).payload;
    } catch {
      // Expired, changed, of a different provider, or encrypted with a key that is gone.
      return undefined;
    }
  }
}

/** @returns the whole address of the page that a person came from: one of these pages, whatever the query says */
function pageIn(query: unknown, pagesUrl: string): string {
  const { to = '/' } = z.object({ to: z.string().max(TO_LIMIT).optional().catch(undefined) }).parse(query);
  const page = URL.canParse(to, pagesUrl) ? new URL(to, pagesUrl) : undefined;
  return page?.origin === new URL(pagesUrl).origin ? page.href : `${pagesUrl}/`;
}

function cookieIn({ headers }: FastifyRequest, name: string): string | undefined {
  const pairs = (headers.cookie ?? '').split(/; */).map((pair) => pair.split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

/** @returns the error's code, never its text: it may quote what the provider answered */
function reasonOf(error: unknown): string {
  const { code, error: oauth } = z
    .object({ code: z.string().optional().catch(undefined), error: z.string().optional().catch(undefined) })
    .catch({})
    .parse(error);
  return oauth ?? code ?? 'unknown';
}
