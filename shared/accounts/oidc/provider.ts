import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  deviceAuthorizationRequest,
  deviceCodeGrantRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processDeviceAuthorizationResponse,
  processDeviceCodeResponse,
  ResponseBodyError,
  validateAuthResponse,
} from 'oauth4webapi';
import { errorText } from '../../core/error-text.ts';
import { ServiceError } from '../../core/service-error.ts';
import type { Settings } from '../../core/settings.ts';
import { withoutAudit } from '../../data/table/audited-writer.ts';
import type { TableWriter } from '../../data/table/table.ts';
import { guardedFetch } from '../../outgoing/guarded-fetch.ts';
import { discover } from './discovery.ts';
import { IssuerAwayError, knownIssuer } from './issuer-keys.ts';
import type { PendingSignIn } from './pending-sign-in.ts';
import { RefusedTokenError, verifyToken } from './verify-token.ts';

/** Verified claims of a person. */
export type PersonClaims = Readonly<Record<string, unknown>> & { iss: string; sub: string };

/** What a browser keeps between the beginning and the end of a sign-in. */
type SignInSecrets = Pick<PendingSignIn, 'state' | 'nonce' | 'verifier'>;

/** What the check of a signature needs. */
interface Verifying {
  accounts: TableWriter<'accounts'>;
  now(): Date;
}

/** The issuer that signs people in: code with PKCE, and device codes. */
export class Provider {
  readonly #server: AuthorizationServer;
  readonly #client: Client;
  readonly #authentication: ClientAuth;
  readonly #options: Parameters<typeof deviceCodeGrantRequest>[4];
  readonly #admitted: readonly string[];

  private constructor(server: AuthorizationServer, settings: Settings) {
    const { clientId, clientSecret } = requireOidc(settings);
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const Secret = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic;
    this.#server = server;
    this.#client = { client_id: clientId };
    this.#authentication = clientSecret === undefined ? None() : Secret(clientSecret);
    this.#admitted = admittedHosts(settings);
    // The guarded fetch refuses what is not HTTPS, unless the operator admits it.
    this.#options = { [customFetch]: issuerFetch(this.#admitted), [allowInsecureRequests]: true };
  }

  /**
   * Ask the issuer of the settings for its addresses. A process asks once in ten minutes, and rests after a failure,
   * whatever strangers do.
   * @throws ServiceError `not-found` without an issuer
   * @throws IssuerAwayError
   */
  static async discover(settings: Settings): Promise<Provider> {
    const { issuer } = requireOidc(settings);
    const known = discovered.get(issuer) ?? { at: 0 };
    discovered.set(issuer, known);
    const age = Date.now() - known.at;
    if (age > (known.failure === undefined ? freshMilliseconds : restMilliseconds)) {
      known.at = Date.now();
      known.pending = discover(issuer, issuerFetch(admittedHosts(settings))).then(
        (metadata) => {
          known.server = metadata as AuthorizationServer;
          known.failure = undefined;
        },
        (error: unknown) => {
          known.failure = errorText(error).slice(0, 500);
        },
      );
    }
    // Requests at the same time share one.
    await known.pending;
    if (known.server === undefined) throw new IssuerAwayError(known.failure ?? 'it was not asked');
    return new Provider(known.server, settings);
  }

  /** Return the address to send a browser to, and what it must keep. @throws IssuerAwayError */
  async begin(redirect_uri: string): Promise<SignInSecrets & { location: string }> {
    const { authorization_endpoint } = this.#server;
    if (authorization_endpoint === undefined) throw new IssuerAwayError('it has no authorization endpoint');
    const secrets = {
      state: generateRandomState(),
      nonce: generateRandomNonce(),
      verifier: generateRandomCodeVerifier(),
    };
    const location = new URL(authorization_endpoint);
    const parameters = {
      client_id: this.#client.client_id,
      redirect_uri,
      response_type: 'code',
      scope: this.#scope(),
      state: secrets.state,
      nonce: secrets.nonce,
      code_challenge: await calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
    return { ...secrets, location: location.href };
  }

  /** Groups are claims of the profile, or of a scope that the issuer names. */
  #scope(): string {
    const { scopes_supported = [] } = this.#server;
    return ['openid', 'profile', ...(scopes_supported.includes('groups') ? ['groups'] : [])].join(' ');
  }

  /**
   * Exchange the code of a callback for the claims of a person.
   * @throws RefusedTokenError, IssuerAwayError
   */
  finish(
    query: URLSearchParams,
    { state, nonce, verifier }: SignInSecrets,
    redirect_uri: string,
    verifying: Verifying,
  ): Promise<PersonClaims> {
    return this.#verified(verifying, async () => {
      const parameters = validateAuthResponse(this.#server, this.#client, query, state);
      const response = await authorizationCodeGrantRequest(
        this.#server,
        this.#client,
        this.#authentication,
        parameters,
        redirect_uri,
        verifier,
        this.#options,
      );
      const expected = { expectedNonce: nonce, requireIdToken: true };
      return processAuthorizationCodeResponse(this.#server, this.#client, response, expected);
    });
  }

  /**
   * Begin the sign-in of a machine without a browser.
   * @throws ServiceError `conflict` if the issuer gives this client no device codes
   * @throws IssuerAwayError
   */
  async beginDevice() {
    const { device_authorization_endpoint } = this.#server;
    const request = async () => {
      const parameters = new URLSearchParams({ scope: this.#scope() });
      const response = await deviceAuthorizationRequest(
        this.#server,
        this.#client,
        this.#authentication,
        parameters,
        this.#options,
      );
      return processDeviceAuthorizationResponse(this.#server, this.#client, response);
    };
    try {
      if (device_authorization_endpoint !== undefined) return await answered(request);
    } catch (error) {
      if (!(error instanceof RefusedTokenError)) throw error;
    }
    throw new ServiceError(
      'conflict',
      'The issuer of this service gives no device codes. Sign in in a browser.',
    );
  }

  /**
   * Ask once whether the person has confirmed a device code.
   * @returns what to tell the device if they have not
   * @throws RefusedTokenError, IssuerAwayError
   */
  async finishDevice(device_code: string, verifying: Verifying): Promise<PersonClaims | DeviceState> {
    try {
      return await this.#verified(verifying, async () => {
        const response = await deviceCodeGrantRequest(
          this.#server,
          this.#client,
          this.#authentication,
          device_code,
          this.#options,
        );
        return processDeviceCodeResponse(this.#server, this.#client, response);
      });
    } catch (error) {
      const cause = error instanceof RefusedTokenError ? error.cause : undefined;
      const state = cause instanceof ResponseBodyError && deviceStates.find((one) => one === cause.error);
      if (state) return state;
      throw error;
    }
  }

  /** Check the signature and the claims of the identity token that `obtain` returns. */
  async #verified(
    { accounts, now }: Verifying,
    obtain: () => Promise<{ id_token?: string | undefined }>,
  ): Promise<PersonClaims> {
    const { issuer } = this.#server;
    const { id_token } = await answered(obtain);
    if (id_token === undefined) throw new RefusedTokenError('the issuer sent no identity token');
    const keys = knownIssuer(issuer, { accounts: withoutAudit(accounts), admitted: this.#admitted });
    const audience = this.#client.client_id;
    const claims = await verifyToken(id_token, { issuer, audience, keys: keys.find, now: now() });
    await keys.keep();
    const { sub } = claims;
    if (typeof sub !== 'string' || sub === '') throw new RefusedTokenError('the identity token names nobody');
    return { ...claims, iss: issuer, sub };
  }
}

/** @throws RefusedTokenError if the issuer refuses, or its answer is none; IssuerAwayError if there is no answer */
async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    // An issuer that does not answer throws errors of the connection, which have no code of OAuth's.
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('OAUTH_'))
      throw new RefusedTokenError(reasonOf(error), { cause: error });
    throw new IssuerAwayError(errorText(error));
  }
}

/** Return what an issuer says about its refusal, or what is wrong with its answer. */
const reasonOf = (error: Error): string =>
  error instanceof ResponseBodyError || error instanceof AuthorizationResponseError
    ? `${error.error} ${error.error_description ?? ''}`
    : errorText(error);

/** Return a `fetch` for the issuer. An answer of its own faults counts as none. */
function issuerFetch(admitted: readonly string[]): ReturnType<typeof guardedFetch> {
  const fetch = guardedFetch({ admitted, variable: 'ISSUER_HOSTS' });
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status >= 500) throw new Error(`it answered ${response.status}`);
    return response;
  };
}

interface Discovered {
  /** Epoch milliseconds of the last request. */
  at: number;
  server?: AuthorizationServer;
  /** Why the last request failed. */
  failure?: string | undefined;
  pending?: Promise<void>;
}

const discovered = new Map<string, Discovered>();
const freshMilliseconds = 10 * 60 * 1000;
const restMilliseconds = 5 * 1000;

const deviceStates = ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'] as const;
export type DeviceState = (typeof deviceStates)[number];

/** Return the settings of the issuer. @throws ServiceError `not-found` without one */
export function requireOidc({ oidc }: Pick<Settings, 'oidc'>): NonNullable<Settings['oidc']> {
  if (oidc === undefined)
    throw new ServiceError('not-found', 'People sign in with a password here: the service has no issuer.');
  return oidc;
}

/** The operator has named the issuer, so it may have any address. */
function admittedHosts({ issuerHosts, oidc }: Pick<Settings, 'issuerHosts' | 'oidc'>): string[] {
  const url = URL.parse(oidc?.issuer ?? '');
  if (url === null) return [...issuerHosts];
  return [...issuerHosts, `${url.hostname}:${url.port || (url.protocol === 'http:' ? 80 : 443)}`];
}
