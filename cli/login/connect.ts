import { Client } from '../../shared/client/client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { version } from '../version.ts';
import { loginFile, readLogins } from './saved-logins.ts';
import { localUrl, serviceUrl } from './service-url.ts';

type Variables = Readonly<Record<string, string | undefined>>;

export interface Session {
  client: Client;
  token: string;
}

/** Patient enough for a service that starts anew, and no longer: somebody is waiting. */
const retries = { attempts: 5, seconds: 20 };

/** A client of a service, with its token where there is one. */
export const clientOf = (url: string, token?: string): Client =>
  new Client({ url, token, userAgent: `mps/${version}`, retries });

/** Which service is used, and with what token: the environment's, or those that were saved. */
export async function chosenLogin(env: Variables): Promise<{ url: string; token: string | undefined }> {
  const { MPS_URL, MPS_TOKEN } = env;
  const wanted = MPS_URL === undefined || MPS_URL === '' ? undefined : serviceUrl(MPS_URL);
  if (MPS_TOKEN !== undefined && MPS_TOKEN !== '') {
    const url = wanted ?? (await readLogins(loginFile(env)))[0]?.url ?? localUrl;
    return { url, token: MPS_TOKEN };
  }
  const logins = await readLogins(loginFile(env));
  const login = wanted === undefined ? logins[0] : logins.find(({ url }) => url === wanted);
  return { url: login?.url ?? wanted ?? localUrl, token: login?.token };
}

/** A client that has signed in. @throws CliError where nobody has */
export async function connect(env: Variables): Promise<Session> {
  const { url, token } = await chosenLogin(env);
  if (token === undefined)
    throw new CliError(`You are not signed in to ${url}. Run "mps login ${url}".`, exitCodes.notSignedIn);
  return { client: clientOf(url, token), token };
}
