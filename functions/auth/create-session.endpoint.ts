import * as z from 'zod';
import { hashingRuntime } from '../../shared/accounts/hashing-queue.ts';
import { signInFor } from '../../shared/accounts/sign-in.ts';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import { writePasswords } from '../../shared/data/accounts/needs.ts';
import { authenticateSession, beginSession, endSession } from '../../shared/data/accounts/session.ts';
import { AccountType } from '../../shared/data/accounts/user.ts';
import { signInMaxBytes } from '../../shared/http/body/body-limit.ts';
import { defineEndpoint } from '../../shared/http/definition/definition.ts';
import { fields } from '../../shared/http/definition/endpoint-input.ts';
import { Reply } from '../../shared/http/definition/reply.ts';
import { keepSession, presentedSession } from '../../shared/http/pipeline/session-cookie.ts';
import { presentedCredentials } from './credentials.ts';

export const endpoint = defineEndpoint({
  name: 'createSession',
  method: 'POST',
  path: '/auth/session',
  summary: 'Sign in a browser',
  description:
    'For pages of this service, such as the console; programs use `POST /auth/token`. The response sets a cookie that scripts cannot read (`HttpOnly`, `SameSite=Strict`, and `Secure` except on the loopback address). It is valid only together with `Authorization: Session <page_key>`, and writes also need the header `X-Requested-With`. The session ends 30 days after its last use, by signing out, and by a change of password or account type.',
  allow: 'anyone',
  throttle: { perSecond: 10, burst: 40 },
  needs: { accounts: writePasswords },
  runtime: hashingRuntime,
  input: { body: fields(z.strictObject(presentedCredentials), signInMaxBytes) },
  output: {
    200: z.object({
      session_id: Ulid,
      /** Key that the page sends in `Authorization: Session`. Only this response contains it. */
      page_key: z.string(),
      expires_at: Timestamp,
      user_id: Ulid,
      username: z.string(),
      account_type: AccountType,
    }),
  },
  problems: ['unauthenticated', 'too-many-requests'],

  async handle({ body }, context) {
    const { accounts, now, newId, sourceIp, header, settings } = context;
    const use = { user_agent: header('user-agent') ?? '', address: sourceIp };
    const { user, issued } = await signInFor(
      accounts,
      { ...body, sourceIp, oidc: settings.oidc },
      now,
      (owner) => {
        const session_id = newId();
        context.noteAudit({ by: owner, subject: { session_id } });
        return beginSession(accounts, owner, { session_id, now: now(), use });
      },
    );
    // This session replaces the browser's previous one. End the previous one: only the list of sessions could
    // reach it.
    const before = presentedSession(context);
    const replaced = before && (await authenticateSession(accounts, before, now()));
    if (replaced) await endSession(accounts, replaced.user.user_id, replaced.session.session_id);
    const { session_id, expires_at } = issued.session;
    const { user_id, username, account_type } = user;
    return Reply.json(
      { session_id, page_key: issued.pageKey, expires_at, user_id, username, account_type },
      { headers: { 'Cache-Control': 'no-store', ...keepSession(context, issued.cookie) } },
    );
  },
});
