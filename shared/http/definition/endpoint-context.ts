import type { Logger } from '../../core/log.ts';
import type { Needs, Platform, Services } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import type { CiRun } from '../../data/accounts/ci-run.ts';
import type { ChargedToken, TokenScope } from '../../data/accounts/token-scope.ts';
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
  /** Version of the credentials for which the token was issued. */
  credentials_version: number;
  /** SHA-256 of the secret of the token or session; the key of its record. */
  token_hash: string;
  /** Session of a browser; absent if a token was sent. */
  session_id?: string;
  /** Token; absent for a session. */
  token_id?: string;
  /** What the token leaves of the user's rights; absent for all of them. */
  scope?: TokenScope;
  /** The token, if it has a budget. */
  charged_token?: ChargedToken;
  /** The run of a CI system that uses the token; absent for a person. */
  ci?: CiRun;
}

/** Who begins a job: a user, by a token. */
export type BegunBy = Pick<Caller, 'user_id' | 'charged_token' | 'ci'>;

/**
 * The role that a caller needs in the project of `project_id`: 404 if the project does not exist, 403 if the role
 * is too low.
 * - `viewer`: read. Every account that may read at all has this role in every project.
 * - `developer`: change the contents, and train.
 * - `owner`: delete, share and transfer the project, and set its secrets.
 * - `restore`: the same as `owner`, also of a project that is marked as deleted. Such a project can be read, restored
 * and removed; every other change is 403.
 * - `remove`: the same as `restore`, but the project need not be readable. Admins have all roles. The account type
 * (`allow`) limits the rights of a role.
 */
export type ProjectRule = 'viewer' | 'developer' | 'owner' | 'restore' | 'remove';

/**
 * Maximum number of requests of all callers together: per second, and concurrently (API Gateway's rate and burst).
 */
export interface Throttle {
  perSecond: number;
  burst: number;
}

/** Facts of an audit record that only the behaviour knows. */
export interface AuditFacts {
  operation?: string;
  project_id?: string;
  /** Ids and names that the path does not have. */
  subject?: Readonly<Record<string, string | number>>;
  /** Who signs in, if the caller had not. */
  by?: Pick<User, 'user_id' | 'username'>;
  /** Run of CI that signs in. */
  ci?: CiRun;
  /** The record before the change; only fields of `audit.fields` are kept. */
  before?: object | undefined;
  /** Values after the change, besides those of the input. */
  after?: object;
  /** Whether one record stands for all equal operations of an hour. */
  isHourly?: boolean;
}

/** Context of every behaviour, in addition to its input and its `needs`. */
export interface Ambient {
  now(): Date;
  newId(): string;
  /**
   * Return the writes for the transaction that creates the record `id`, if the endpoint is `idempotent`. They note
   * the record for the request's key. Empty for a request without a key.
   */
  idempotencyWrites(id: string): Write[];
  /**
   * Add facts to the audit record, before the write that it joins. The pipeline makes the record; it knows the operation, the
   * caller and the path already. Nothing happens for a request without a record.
   */
  noteAudit(facts: AuditFacts): void;
  log: Logger;
  settings: Settings;
  requestId: string;
  /** Address that the request came from. */
  sourceIp: string;
  /** Path of the request as the client sent it. On AWS it begins with the stage. */
  requestPath: string;
  header(name: string): string | undefined;
  /**
   * Return the URL of this service, without a trailing slash. No client chooses it.
   * @throws ServiceError `unavailable` if it is not known
   */
  ownUrl(): string;
  /** Version in `If-Match`; undefined if any version may be changed. */
  expectedVersion: number | undefined;
  /** Undefined on AWS, which charges for a function that waits. */
  patience: Patience | undefined;
}

/** How a request waits for news. */
export interface Patience {
  /**
   * Wait, without a place among the requests in progress, until `wait` ends; it ends early with its signal. Then check again
   * that the caller may call.
   * @returns false, without a wait, if the caller has too many requests that wait
   * @throws ServiceError as the steps before `handle` do
   */
  park(wait: (signal: AbortSignal) => Promise<void>): Promise<boolean>;
  /** Check again that the caller may call. @throws ServiceError as the steps before `handle` do */
  recheck(): Promise<void>;
}

/** The caller of an endpoint under a rule; undefined only if the endpoint is open to anyone. */
export type CallerOf<R extends Rule> = R extends 'anyone' ? Caller | undefined : Caller;

export type Context<N extends Needs, R extends Rule, P extends ProjectRule | undefined> = Ambient &
  Services<N> & { caller: CallerOf<R> } & (P extends ProjectRule ? CheckedProject : unknown);

/** The means to identify a caller. */
export interface Identification {
  platform: Platform;
  sourceIp: string;
}

/** A user, and the digest of the token or session that they use. */
export interface Identity {
  user: User;
  token_hash: string;
  /** Absent for a token. */
  session_id?: string;
  /** Absent for a session. */
  token_id?: string;
  /** Absent for a session, and for a token with all rights of the user. */
  scope?: TokenScope;
  /** Absent for a session, and for a token without a budget. */
  charged_token?: ChargedToken;
  /** Absent for a person. */
  ci?: CiRun;
}

/**
 * Return the path of a request with one leading slash and no trailing slash: `/v1/console`; empty for the root.
 * Links are made from it. A path with two leading slashes would name another host.
 * @param requestPath as the caller sees it, such as `//v1/console/`
 */
export function pathOfHost(requestPath: string): string {
  const path = requestPath.replace(/^\/+|\/+$/g, '');
  return path === '' ? '' : `/${path}`;
}
