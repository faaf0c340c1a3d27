import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { newId } from '../../../shared/core/new-id.ts';
import type { CiTrust } from '../../../shared/data/accounts/ci-trust.ts';
import type { User } from '../../../shared/data/accounts/user.ts';

/** The fixed fields of an exchange. */
export const exchange = {
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
};

/** Where the service of the tests is. */
export const audience = 'http://service.test';

/** A trust of a user as it is stored. */
export const trustOf = ({ user_id, credentials_version }: User, more: Partial<CiTrust> = {}): CiTrust => ({
  trust_id: newId(),
  user_id,
  provider: 'github',
  name: 'octo/digits',
  issuer: 'https://token.actions.githubusercontent.com',
  claims: { repository_id: '11', repository_owner_id: '22', ref: 'refs/heads/main' },
  scope: { rights: 'run', projects: null },
  budget: null,
  created_at: new Date().toISOString(),
  credentials_version,
  ...more,
});

/** What GitHub signs for a push to the main branch. */
export const pushClaims: JWTPayload = {
  sub: 'repo:octo@22/digits@11:ref:refs/heads/main',
  repository: 'octo/digits',
  repository_id: '11',
  repository_owner_id: '22',
  ref: 'refs/heads/main',
  event_name: 'push',
  sha: 'c0ffee0000000000000000000000000000000000',
  actor: 'ada',
  run_id: '99',
};

/** An issuer of identity tokens on this machine, with discovery and a set of one key. */
export async function startIssuer() {
  const pair = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' };
  const issuer = {
    url: '',
    host: '',
    pair,
    jwk,
    keys: [jwk] as object[],
    /** Whether it answers. */
    isAway: false,
    /** Changes of its discovery. */
    discovery: {} as Record<string, string>,
    /** More members of its key set, as JSON. */
    moreKeys: '',
    asked: [] as string[],
    sign,
    close,
  };
  const server = createServer((request, response) => {
    issuer.asked.push(request.url ?? '');
    if (issuer.isAway) return void request.socket.destroy();
    const answer = request.url?.endsWith('/openid-configuration')
      ? { issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...issuer.discovery }
      : { keys: issuer.keys };
    const text = JSON.stringify(answer).replace(/\}$/, `${issuer.moreKeys}}`);
    response.setHeader('Content-Type', 'application/json').end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer.url = `http://${issuer.host}`;

  /** Sign a token for a run. Numbers of `iat`, `nbf` and `exp` are seconds from now; null is no end. */
  async function sign(
    claims: Record<string, unknown> = pushClaims,
    { header = {}, key = pair.privateKey }: { header?: object; key?: Parameters<SignJWT['sign']>[0] } = {},
  ): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000);
    const {
      iat = 0,
      nbf = -5,
      exp = 300,
      ...others
    } = claims as Partial<Record<'iat' | 'nbf' | 'exp', number>>;
    const payload = {
      iss: issuer.url,
      aud: audience,
      jti: newId(),
      ...others,
      iat: seconds + iat,
      nbf: seconds + nbf,
      ...(exp !== null && { exp: seconds + exp }),
    };
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(key);
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  return issuer;
}
