import * as z from 'zod/mini';
import type { endpoint as exchangeToken } from '../../functions/auth/oidc/exchange-token.endpoint.ts';
import { errorText } from '../../shared/core/error-text.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { clientOf } from './service.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Return a function that signs in as the run of CI that the command is in: with the identity token that GitHub Actions
 * signs for a job with `id-token: write`, or the one that GitLab puts into `MPS_ID_TOKEN`. Undefined outside of CI.
 */
export function ciLogin(url: string, env: Variables): (() => Promise<CiLogin>) | undefined {
  const identityToken = identityTokenOf(url, env);
  return (
    identityToken &&
    (async () => {
      const { access_token, user, expires_in } = await clientOf(url).call<typeof exchangeToken>(
        'POST /auth/oidc/exchange',
        {
          body: {
            grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
            subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
            subject_token: await identityToken(),
            ...(env['MPS_TRUST'] && { trust_id: env['MPS_TRUST'] }),
          },
        },
      );
      return { token: access_token, user, until: Date.now() + expires_in * 1000 };
    })
  );
}

interface CiLogin {
  token: string;
  /** Such as `ci:OWNER/NAME`. */
  user: string;
  /** Epoch milliseconds at which the token expires. */
  until: number;
}

function identityTokenOf(url: string, env: Variables): (() => Promise<string>) | undefined {
  const { MPS_ID_TOKEN, ACTIONS_ID_TOKEN_REQUEST_URL, ACTIONS_ID_TOKEN_REQUEST_TOKEN } = env;
  if (MPS_ID_TOKEN) return async () => MPS_ID_TOKEN;
  if (!ACTIONS_ID_TOKEN_REQUEST_URL || !ACTIONS_ID_TOKEN_REQUEST_TOKEN) return undefined;
  return async () => {
    const request = new URL(ACTIONS_ID_TOKEN_REQUEST_URL);
    request.searchParams.set('audience', url);
    const headers = { Authorization: `Bearer ${ACTIONS_ID_TOKEN_REQUEST_TOKEN}`, Accept: 'application/json' };
    try {
      const response = await fetch(request, { headers, redirect: 'error' });
      if (!response.ok) throw new Error(`HTTP status ${response.status}`);
      return Answer.parse(await response.json()).value;
    } catch (error) {
      throw new CliError(
        `GitHub gives no identity token for this job: ${errorText(error)}`,
        exitCodes.notSignedIn,
      );
    }
  };
}

const Answer = z.object({ value: z.string() });

/** Milliseconds before its end after which a token is replaced. */
const spare = 5 * 60 * 1000;

/** Return a function that returns a valid token. It signs in again before the last one expires, as GitHub allows. */
export function renewedToken(logIn: () => Promise<CiLogin>, first: CiLogin): () => Promise<string> {
  let current = Promise.resolve(first);
  let until = first.until;
  return async () => {
    if (Date.now() > until - spare) {
      // Several requests at once share one sign-in. If it fails, the token may still be valid for a while.
      until = Date.now() + 2 * spare;
      const before = current;
      current = logIn().catch(() => before);
      until = (await current).until;
    }
    return (await current).token;
  };
}
