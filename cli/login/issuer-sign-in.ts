import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { endpoint as beginDeviceSignIn } from '../../functions/auth/oidc/begin-device-sign-in.endpoint.ts';
import type { endpoint as redeemSignIn } from '../../functions/auth/oidc/redeem-sign-in.endpoint.ts';
import type { endpoint as readStart } from '../../functions/service/read-start.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { wait } from '../../shared/client/retry.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { clientOf } from './service.ts';

type Granted = AnswerOf<typeof redeemSignIn>;

/** Whether people sign in to a service at an issuer. */
export async function hasIssuer(url: string): Promise<boolean> {
  const { issuer_sign_in } = await clientOf(url).call<typeof readStart>('GET /');
  // A service of an earlier release does not say so.
  return typeof issuer_sign_in === 'string';
}

/** Seconds for which `mps` waits for the browser. */
const maxSeconds = 600;

/**
 * Sign in in a browser of this machine, which brings a code to a port of it.
 * @param open shows the person an address, and opens it
 * @throws CliError if nobody signs in in time
 */
export async function browserSignIn(url: string, open: (address: string) => Promise<void>): Promise<Granted> {
  const code_verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const server = createServer();
  const late = AbortSignal.timeout(maxSeconds * 1000);
  try {
    return await new Promise<Granted>((resolve, reject) => {
      late.addEventListener('abort', () =>
        reject(new CliError('Nobody has signed in in time.', exitCodes.notSignedIn)),
      );
      server.on('error', reject);
      server.on('request', (request, response) => {
        const end = (status: number, text: string): void => {
          response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' }).end(text);
        };
        const code = new URLSearchParams(request.url?.split('?')[1]).get('code');
        if (code === null) return end(404, '');
        redeem(url, { grant_type: 'authorization_code', code, code_verifier }).then(
          (granted) => {
            end(200, 'Go back to the terminal. You can close this page.\n');
            resolve(granted);
          },
          (error: unknown) => {
            end(400, 'This sign-in does not count. Begin again in the terminal.\n');
            // Any page and any program of this machine reaches the port: their codes must not end the sign-in.
            const isOfOthers =
              error instanceof ProblemError && (error.status === 401 || error.status === 400);
            if (!isOfOthers) reject(error);
          },
        );
      });
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as AddressInfo;
        const query = new URLSearchParams({ port: String(port), challenge });
        open(`${url}/auth/oidc/start?${query}`).catch(reject);
      });
    });
  } finally {
    server.close();
  }
}

const redeem = (
  url: string,
  body:
    | { grant_type: 'authorization_code'; code: string; code_verifier: string }
    | { grant_type: 'urn:ietf:params:oauth:grant-type:device_code'; device_code: string },
): Promise<Granted> => clientOf(url).call<typeof redeemSignIn>('POST /auth/oidc/token', { body });

/**
 * Sign in with a code that the person confirms in any browser.
 * @param show tells the person where, and the code
 * @throws CliError if nobody confirms it in time
 */
export async function deviceSignIn(url: string, show: (text: string) => void): Promise<Granted> {
  const begun = await clientOf(url).call<typeof beginDeviceSignIn>('POST /auth/oidc/device');
  const { device_code, user_code, verification_uri, verification_uri_complete } = begun;
  show(`Open ${verification_uri_complete ?? verification_uri} and confirm the code ${user_code}.`);
  const until = Date.now() + begun.expires_in * 1000;
  let seconds = begun.interval;
  while (Date.now() < until) {
    await wait(seconds * 1000);
    try {
      return await redeem(url, { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code });
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 400) throw error;
      if (error.code === 'slow_down') seconds += 5;
      else if (error.code !== 'authorization_pending')
        throw new CliError(error.message, exitCodes.notSignedIn);
    }
  }
  throw new CliError('Nobody has confirmed the code in time.', exitCodes.notSignedIn);
}
