import {
  type PendingSignIn,
  pendingSeconds,
  pendingSignIn,
} from '../../../shared/accounts/oidc/pending-sign-in.ts';
import { Provider } from '../../../shared/accounts/oidc/provider.ts';
import { signInKey } from '../../../shared/data/accounts/identity.ts';
import type { keepSignIns } from '../../../shared/data/accounts/needs.ts';
import type { Context } from '../../../shared/http/definition/endpoint-context.ts';
import { keepSignIn } from './sign-in-cookie.ts';
import { withIssuer } from './with-issuer.ts';

/** Path of the callback, below the URL of the service. */
export const callbackPath = '/auth/oidc/callback';

/**
 * Begin a sign-in in a browser.
 * @param purpose what it is for, if not for a session
 * @returns the address of the issuer to send the browser to, and the cookie that it must keep
 */
export async function beginSignIn(
  {
    accounts,
    settings,
    log,
    now,
    header,
    ownUrl,
  }: Context<{ accounts: typeof keepSignIns }, 'anyone', undefined>,
  purpose: Pick<PendingSignIn, 'link' | 'program'> = {},
): Promise<{ location: string; cookie: string }> {
  const url = ownUrl();
  const { location, ...secrets } = await withIssuer(log, async () => {
    const provider = await Provider.discover(settings);
    return provider.begin(`${url}${callbackPath}`);
  });
  const until = now().getTime() + pendingSeconds * 1000;
  const key = await signInKey.obtain(accounts, now());
  const sealed = pendingSignIn.seal(key, { ...secrets, ...purpose, until });
  return { location, cookie: keepSignIn(header('cookie') ?? '', url, secrets.state, sealed) };
}
