import type { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import { Client } from '../../../shared/client/client.ts';
import type { Credentials } from './demo-options.ts';

export interface Session {
  client: Client;
  token: string;
  /** Id of who has signed in: the first part of every token. */
  user_id: string;
}

/** A session of the service at `url`. A token is not tried out. @throws ProblemError | UnreachableError */
export async function signIn(url: string, credentials: Credentials): Promise<Session> {
  const token = 'token' in credentials ? credentials.token : await grantedToken(url, credentials);
  return { client: new Client({ url, token }), token, user_id: token.split('.')[0] ?? '' };
}

async function grantedToken(
  url: string,
  { username, password }: Exclude<Credentials, { token: string }>,
): Promise<string> {
  const body = { grant_type: 'password', username, password } as const;
  return (await new Client({ url }).call<typeof createToken>('POST /auth/token', { body })).access_token;
}
