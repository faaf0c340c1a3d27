import { consoleLink, consoleOf } from '../../../shared/client/console-link.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';

/**
 * What a browser is told after a sign-in: begin again; no group has access; the person has another account; or the account is
 * linked now.
 */
type Outcome = 'again' | 'no-access' | 'taken' | 'linked';

/** Redirect to the page of the console that tells an outcome. Nothing of the sign-in stands in its address. */
export function showOutcome(ownUrl: string, outcome: Outcome): Reply<never> {
  const page = consoleOf(ownUrl);
  const isOfAccount = outcome === 'linked' || outcome === 'taken';
  return redirectTo(
    isOfAccount ? consoleLink(page, ['account'], { link: outcome }) : consoleLink(page, ['sign-in', outcome]),
  );
}

/** Return a 302 that no cache keeps. */
export const redirectTo = (location: string): Reply<never> =>
  Reply.redirect({ GET: location, HEAD: location });
