import type { Client } from '../../shared/client/client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { ownAdminPassword, runningService } from './checkout.ts';
import { ciLogin, renewedToken } from './ci-login.ts';
import { lookForNewerVersion } from './newer-version.ts';
import { loginFile, readLogins } from './saved-logins.ts';
import { clientOf, localUrl, requireService, serviceUrl } from './service.ts';
import { signIn } from './sign-in.ts';

/** Return a client with the token of the chosen login. @throws CliError if there is none */
export async function connect(env: Variables): Promise<Session> {
  const ofCi = await ciSession(env);
  if (ofCi !== undefined) return ofCi;
  const { url, token: chosen } = await chosenLogin(env);
  // Check that the service runs before asking for a login.
  if (chosen === undefined) await requireService(url);
  const token = chosen ?? (await ownToken(url, env));
  if (token === undefined)
    throw new CliError(`You are not signed in to ${url}. Run "mps login ${url}".`, exitCodes.notSignedIn);
  lookForNewerVersion(url, env);
  return { client: clientOf(url, token), token, env };
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Sign in as the run of CI that the command is in. Undefined outside of CI, and if a token or no service is named. */
async function ciSession(env: Variables): Promise<Session | undefined> {
  if (env['MPS_TOKEN'] || !env['MPS_URL']) return undefined;
  const url = serviceUrl(env['MPS_URL']);
  const logIn = ciLogin(url, env);
  if (logIn === undefined) return undefined;
  const first = await logIn();
  process.stderr.write(`Signed in to ${url} as ${first.user}.\n`);
  return { client: clientOf(url, renewedToken(logIn, first)), token: first.token, env };
}

export interface Session {
  client: Client;
  token: string;
  /** Variables of the command, which say where its settings are. */
  env: Variables;
}

/** Return the service and token from MPS_URL and MPS_TOKEN, else from the newest saved login. */
export async function chosenLogin(env: Variables): Promise<{ url: string; token: string | undefined }> {
  const { MPS_URL, MPS_TOKEN } = env;
  const wanted = MPS_URL === undefined || MPS_URL === '' ? undefined : serviceUrl(MPS_URL);
  if (MPS_TOKEN !== undefined && MPS_TOKEN !== '') {
    const url = wanted ?? (await readLogins(loginFile(env)))[0]?.url ?? (await localAddress(env));
    return { url, token: MPS_TOKEN };
  }
  const logins = await readLogins(loginFile(env));
  const login = wanted === undefined ? logins[0] : logins.find(({ url }) => url === wanted);
  return { url: login?.url ?? wanted ?? (await localAddress(env)), token: login?.token };
}

/** Return the URL of the checkout's running service, else the default local URL. */
const localAddress = async (env: Variables): Promise<string> => (await runningService(env)) ?? localUrl;

/**
 * Sign in to the checkout's own service as its first admin, with the password in the data folder. Return undefined
 * for any other service.
 */
async function ownToken(url: string, env: Variables): Promise<string | undefined> {
  if ((await runningService(env)) !== url) return undefined;
  const password = await ownAdminPassword(env);
  if (password === undefined) return undefined;
  try {
    const { token, username } = await signIn({ url, username: 'admin', password }, env);
    process.stderr.write(`Signed in to ${url} as ${username}, with the password saved in this checkout.\n`);
    return token;
  } catch (error) {
    // The password has changed since.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}
