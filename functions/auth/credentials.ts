import bowser from 'bowser';
import * as z from 'zod';
import { PresentedPassword } from '../../shared/accounts/password-rules.ts';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import type { Session } from '../../shared/data/accounts/session.ts';

/** With what somebody signs in. */
export const presentedCredentials = {
  // Not the rule for new names: an impossible name gets the same response as an unknown one.
  username: z
    .string()
    .min(1, 'is blank')
    .max(64, 'is longer than 64 characters')
    .toLowerCase()
    .describe('Name of the user.'),
  password: PresentedPassword.describe('Password of the user.'),
};

/** A session of a browser, without its secrets. */
export const SessionAnswer = z
  .object({
    session_id: Ulid,
    /** Such as `Firefox on Linux`. */
    browser: z.string(),
    /** Address of the last use. */
    address: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Session' });

/** What a browser calls itself, in the words of people. */
function browserName(user_agent: string): string {
  if (user_agent === '') return 'unknown';
  const { browser, os } = bowser.parse(user_agent);
  if (browser.name === undefined || browser.name === '') return user_agent.split(' ')[0] ?? 'unknown';
  return os.name === undefined || os.name === '' ? browser.name : `${browser.name} on ${os.name}`;
}

export const showSession = (session: Session): z.infer<typeof SessionAnswer> => {
  const { session_id, user_agent, address, created_at, last_used_at, expires_at } = session;
  return { session_id, browser: browserName(user_agent), address, created_at, last_used_at, expires_at };
};

/** A token without its secret. */
export const TokenAnswer = z
  .object({
    token_id: Ulid,
    /** Null for one of a sign-in. */
    name: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Token' });
