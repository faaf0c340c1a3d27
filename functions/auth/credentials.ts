import bowser from 'bowser';
import * as z from 'zod';
import { PresentedPassword } from '../../shared/accounts/password-rules.ts';
import { Timestamp, Ulid } from '../../shared/core/formats.ts';
import type { Session } from '../../shared/data/accounts/session.ts';
import { TokenScope } from '../../shared/data/accounts/token-scope.ts';

/** Fields of a request that signs a user in. */
export const presentedCredentials = {
  // Accept impossible names as well: they get the same response as unknown ones.
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
    /** For example `Firefox on Linux`. */
    browser: z.string(),
    /** IP address of the last request. */
    address: z.string(),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires_at: Timestamp,
  })
  .meta({ id: 'Session' });

/** Turn a User-Agent header into a readable name, such as `Firefox on Linux` or `mps/0.1.0`. */
export function programName(user_agent: string): string {
  if (user_agent === '') return 'unknown';
  const { browser, os } = bowser.parse(user_agent);
  if (browser.name === undefined || browser.name === '') return user_agent.split(' ')[0] ?? 'unknown';
  return os.name === undefined || os.name === '' ? browser.name : `${browser.name} on ${os.name}`;
}

export const showSession = (session: Session): z.infer<typeof SessionAnswer> => {
  const { session_id, user_agent, address, created_at, last_used_at, expires_at } = session;
  return { session_id, browser: programName(user_agent), address, created_at, last_used_at, expires_at };
};

/** A token without its secret. */
export const TokenAnswer = z
  .object({
    token_id: Ulid,
    /** Null for a token of a sign-in. */
    name: z.string().nullable(),
    created_at: Timestamp,
    expires_at: Timestamp,
    /** Null for a token with all rights of the user. */
    scope: TokenScope.nullable(),
    /** US$ that the jobs which it begins may cost; null without a budget. */
    budget: z.number().nullable(),
    /** US$ that they have cost and may still cost; null without a budget. */
    charged: z.number().nullable(),
  })
  .meta({ id: 'Token' });
