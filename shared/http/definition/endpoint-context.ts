import type { Logger } from '../../core/log.ts';
import type { Needs, Platform, Services } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import type { AccountType, User } from '../../data/accounts/user.ts';
import type { CheckedProject } from '../../data/projects/change-in-project.ts';
import type { Write } from '../../data/table/table.ts';

/** Who may call: anyone without signing in, or callers whose account type has at least these rights. */
export type Rule = 'anyone' | AccountType;

/** Who is calling, from the bearer token or the session of a browser. */
export interface Caller {
  user_id: string;
  username: string;
  account_type: AccountType;
  /** Of the credentials under which the token was issued. */
  credentials_version: number;
  /** SHA-256 of the secret of the token or session, by which it is stored. */
  token_hash: string;
  /** The session of a browser; absent where a token was sent. */
  session_id?: string;
}

/**
 * The role that a caller needs in the project of `project_id`: 404 unless it exists, 403 to whose role is too low.
 * - `viewer`: reads. Every account that may read at all has this role in every project.
 * - `developer`: changes what is in it, and trains.
 * - `owner`: deletes it, shares it, hands it over, and sets its secrets.
 * - `remove`: the same as `owner`, and the project need not be readable.
 * Admins have all roles. The account type (`allow`) bounds what a role may do.
 */
export type ProjectRule = 'viewer' | 'developer' | 'owner' | 'remove';

/** What every behaviour receives besides its input and what it `needs`. */
export interface Ambient {
  now(): Date;
  newId(): string;
  /**
   * Writes that belong in the transaction that makes the record `id` where the endpoint is `idempotent`: they note it
   * for the request's key. There are none for a request without a key.
   */
  idempotencyWrites(id: string): Write[];
  log: Logger;
  settings: Settings;
  requestId: string;
  /** Address that the request came from. */
  sourceIp: string;
  /** Path of the request as its sender sees it: on AWS with the stage before it. */
  requestPath: string;
  header(name: string): string | undefined;
  /** Version that `If-Match` names; undefined where the caller does not mind. */
  expectedVersion: number | undefined;
}

/** The caller of an endpoint under a rule: undefined only where nobody has to sign in. */
export type CallerOf<R extends Rule> = R extends 'anyone' ? Caller | undefined : Caller;

export type Context<N extends Needs, R extends Rule, P extends ProjectRule | undefined> = Ambient &
  Services<N> & { caller: CallerOf<R> } & (P extends ProjectRule ? CheckedProject : unknown);

/** With what a caller is identified. */
export interface Identification {
  platform: Platform;
  sourceIp: string;
}

/** A user, and the digest of the token or session under which they act. */
export interface Identity {
  user: User;
  token_hash: string;
  /** Absent where it is a token. */
  session_id?: string;
}
