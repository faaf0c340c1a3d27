import * as z from 'zod';
import {
  codeSeconds,
  type PendingSignIn,
  pendingSignIn,
  programCode,
} from '../../../shared/accounts/oidc/pending-sign-in.ts';
import { signInSeconds } from '../../../shared/accounts/oidc/person-account.ts';
import { type PersonClaims, Provider, requireOidc } from '../../../shared/accounts/oidc/provider.ts';
import { RefusedTokenError } from '../../../shared/accounts/oidc/verify-token.ts';
import { ServiceError } from '../../../shared/core/service-error.ts';
import { findIdentity, linkIdentity, signInKey } from '../../../shared/data/accounts/identity.ts';
import { signInPersons } from '../../../shared/data/accounts/needs.ts';
import { beginSession } from '../../../shared/data/accounts/session.ts';
import { findUser } from '../../../shared/data/accounts/user.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { redirect } from '../../../shared/http/definition/endpoint-output.ts';
import type { Reply } from '../../../shared/http/definition/reply.ts';
import { keepSession } from '../../../shared/http/pipeline/session-cookie.ts';
import { accountOfPerson, type SigningIn } from './account-of-person.ts';
import { callbackPath } from './begin-sign-in.ts';
import { redirectTo, showOutcome } from './console-page.ts';
import { sentSignIns } from './sign-in-cookie.ts';
import { withIssuer } from './with-issuer.ts';

const parameter = z.string().max(4096).optional();

export const endpoint = defineEndpoint({
  name: 'finishSignIn',
  method: 'GET',
  path: callbackPath,
  summary: 'Where the issuer sends a browser back to',
  description:
    "Redirects to the console, signed in for 12 hours, or with a word about what failed. The account is the one of the issuer's `sub`; the first sign-in makes it. The groups decide the account type at every sign-in, and a change of it ends all sessions and tokens.",
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: signInPersons },
  writes: 'the account and its session',
  audit: {},
  input: {
    // Issuers add parameters of their own, such as `session_state`.
    query: z.looseObject({
      code: parameter.describe('The authorization code.'),
      state: parameter.describe('That of the sign-in, which the cookie has, too.'),
      iss: parameter.describe('The issuer.'),
      error: parameter.describe('Why the issuer signs nobody in.'),
    }),
  },
  output: { 302: redirect },
  problems: ['not-found', 'too-many-requests', 'unavailable'],

  async handle({ query: { code, state = '', iss, error } }, context) {
    const { accounts, settings, now, log, header, ownUrl } = context;
    requireOidc(settings);
    const url = ownUrl();
    const refused = (reason: string) => {
      log.warn('sign-in-refused', { reason: reason.slice(0, 500) });
      return showOutcome(url, 'again');
    };
    const key = await signInKey.obtain(accounts, now());
    const pending = sentSignIns(header('cookie') ?? '', url)
      .map((sealed) => pendingSignIn.open(key, sealed, now()))
      .find((one) => one?.state === state);
    if (pending === undefined) return refused('the browser has no cookie of this sign-in');
    const parameters = Object.entries({ code, state, iss, error }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    try {
      const claims = await withIssuer(log, async () => {
        const provider = await Provider.discover(settings);
        return provider.finish(new URLSearchParams(parameters), pending, `${url}${callbackPath}`, {
          accounts,
          now,
        });
      });
      if (pending.link !== undefined) return await linkAccount(claims, pending.link, context);
      return await enter(claims, pending.program, key, context);
    } catch (fault) {
      if (fault instanceof ServiceError && fault.kind === 'forbidden') {
        log.warn('sign-in-refused', { reason: 'no group has access' });
        return showOutcome(url, 'no-access');
      }
      const isRefused = fault instanceof RefusedTokenError || fault instanceof ConditionFailedError;
      if (!isRefused && !(fault instanceof ServiceError && fault.kind === 'conflict')) throw fault;
      return refused(fault.message);
    }
  },
});

/** Sign the person in: begin a session, or give the program that has opened the browser a code for a token. */
async function enter(
  claims: PersonClaims,
  program: PendingSignIn['program'],
  key: Uint8Array,
  context: SigningIn,
): Promise<Reply<never>> {
  const { accounts, now, newId, header, ownUrl, sourceIp } = context;
  const id = newId();
  const subject = program === undefined ? { session_id: id } : undefined;
  const user = await accountOfPerson(claims, subject, context);
  if (program !== undefined) {
    const { user_id, credentials_version } = user;
    const { port, challenge } = program;
    const until = now().getTime() + codeSeconds * 1000;
    const code = programCode.seal(key, { user_id, credentials_version, challenge, token_id: id, until });
    return redirectTo(`http://127.0.0.1:${port}/?code=${code}`);
  }
  const use = { user_agent: header('user-agent') ?? '', address: sourceIp };
  const { pageKey, cookie } = await beginSession(accounts, user, {
    ...{ session_id: id, now: now(), use, maxSeconds: signInSeconds },
  });
  // The page takes its half of the session from the fragment, which no server sees.
  return redirectTo(`${ownUrl()}/console#/session/${pageKey}`).with(keepSession(context, cookie));
}

/** Link the account of the browser's user to the person who has signed in at the issuer. */
async function linkAccount(
  { iss: issuer, sub: subject }: PersonClaims,
  owner: NonNullable<PendingSignIn['link']>,
  { accounts, ownUrl, noteAudit }: SigningIn,
): Promise<Reply<never>> {
  const person = { issuer, subject };
  const holder = await findIdentity(accounts, person);
  if (holder === owner.user_id) return showOutcome(ownUrl(), 'linked');
  if (holder !== undefined && (await findUser(accounts, holder)) !== undefined)
    return showOutcome(ownUrl(), 'taken');
  const by = await findUser(accounts, owner.user_id);
  noteAudit({ operation: 'linkAccount', ...(by && { by }), subject: { issuer } });
  await linkIdentity(accounts, owner, person, holder);
  return showOutcome(ownUrl(), 'linked');
}
