import type * as z from 'zod';
import type { FunctionRuntime } from '../core/function-runtime.ts';
import type { Logger } from '../core/log.ts';
import type { Need, Needs, Platform, Services } from '../core/needs.ts';
import type { Settings } from '../core/settings.ts';
import type { CheckedProject } from '../data/change-in-project.ts';
import type { TableName, TableWriter, Write } from '../data/table.ts';
import type { AccountType, User } from '../data/user.ts';
import { fieldsMaxBytes } from './body-limit.ts';
import type { ProblemDocument, ProblemKind } from './problem.ts';
import type { Reply } from './reply.ts';

/**
 * `ANY` is a proxy: one function for every method of its path, which ends in a greedy variable. It serves an interface
 * that somebody else has defined, so it does its own routing (`input.request`) and is no operation of the document.
 */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'ANY';

/** The methods that a request may have: whatever is served by GET is served by HEAD, too. */
export type RequestMethod = Exclude<Method, 'ANY'> | 'HEAD';

/** The methods of requests that an endpoint of this method serves. */
export function servedMethods(method: Method): readonly RequestMethod[] {
  if (method === 'ANY') return ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

/** Whether an endpoint is one operation, as the document describes them, and no proxy of many. */
export const isOperation = ({ method }: { method: Method }): boolean => method !== 'ANY';

/** Who may call: anyone without signing in, or callers whose account type has at least these rights. */
export type Rule = 'anyone' | AccountType;

/** Who is calling, from the bearer token. */
export interface Caller {
  user_id: string;
  username: string;
  account_type: AccountType;
  /** Of the credentials under which the token was issued. */
  credentials_version: number;
  /** SHA-256 of the token's secret, by which it is stored. */
  token_hash: string;
}

/** A body of fields, sent as JSON or as a form. Form fields are strings, so use the coercing parameters. */
export interface FieldsBody<S extends z.ZodObject = z.ZodObject> {
  kind: 'fields';
  schema: S;
  maxBytes: number;
  /** Field whose items may be sent as NDJSON, one a line, in the place of all fields. */
  lines?: string;
}

/** A body that is a file. */
export interface FileBody {
  kind: 'file';
  mediaTypes: readonly string[];
  maxBytes: number;
}

export interface File {
  mediaType: string;
  bytes: Uint8Array;
}

/** A request as it came, for a proxy. */
export interface RawRequest {
  method: RequestMethod;
  /** What the greedy variable of the path takes, percent-encoded as it was sent. */
  path: string;
  query: URLSearchParams;
  mediaType: string;
  bytes: Uint8Array;
}

/** A request of a proxy's own that stands for one whose body is too large for an event. */
interface LargeBody {
  path: string;
  body: object;
  /** Where to put the bytes, by the answer of the request, and the request that follows. */
  proceed(answer: unknown): { url: string; path: string; body: object };
}

/** How a proxy takes bodies that are too large for an event. On AWS clients do the same by themselves. */
export interface LargeBodies {
  /** Undefined for a request that takes no such body. */
  begin(request: Pick<RawRequest, 'method' | 'path'>): LargeBody | undefined;
}

export interface InputSpec {
  /** Of a proxy, which takes no other input: the whole request, whose body has at most so many bytes. */
  request?: { maxBytes: number; largeBodies?: LargeBodies };
  path?: z.ZodObject;
  query?: z.ZodObject;
  /** Each of these is taken once, in the query or in the body (JSON or form). */
  queryOrBody?: z.ZodObject;
  body?: FieldsBody | FileBody;
}

type Parsed<S, Otherwise> = S extends z.ZodType ? z.output<S> : Otherwise;
type ParsedBody<B> = B extends FieldsBody<infer S> ? z.output<S> : B extends FileBody ? File : undefined;
type Nothing = Readonly<Record<never, never>>;

interface ParsedInput<I extends InputSpec> {
  path: Parsed<I['path'], Nothing>;
  query: Parsed<I['query'], Nothing>;
  queryOrBody: Parsed<I['queryOrBody'], Nothing>;
  body: ParsedBody<I['body']>;
}

export type Input<I extends InputSpec> = ParsedInput<I> &
  (I['request'] extends object ? { request: RawRequest } : unknown);

/** Other media types than JSON that an answer may have, by the caller's `Accept` or always. */
export interface Content<S extends z.ZodType | undefined = z.ZodType | undefined> {
  kind: 'content';
  mediaTypes: readonly string[];
  json: S;
}

/** A redirect to where the bytes are. */
export interface Redirect {
  kind: 'redirect';
}

export type OutputSpec = Readonly<Partial<Record<200 | 201, z.ZodType | Content>> & { 302?: Redirect }>;

type JsonOf<O> = O extends z.ZodType
  ? z.input<O>
  : O extends Content<infer S>
    ? S extends z.ZodType
      ? z.input<S>
      : never
    : never;
type Json<O extends OutputSpec> = { [Status in keyof O]: JsonOf<O[Status]> }[keyof O];

/** What `handle` may answer: the declared JSON value itself, or a {@link Reply} around it. */
export type Answer<O extends OutputSpec> = Json<O> | Reply<Json<O>> | Reply<never>;

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

type CallerOf<R extends Rule> = R extends 'anyone' ? Caller | undefined : Caller;

export type Context<N extends Needs, R extends Rule, P extends ProjectRule | undefined> = Ambient &
  Services<N> & { caller: CallerOf<R> } & (P extends ProjectRule ? CheckedProject : unknown);

type WriterOf<N extends Needs> = {
  [Name in keyof N]: N[Name] extends Need<TableWriter<TableName>> ? Name : never;
}[keyof N];

/**
 * How a POST that creates something honours an `Idempotency-Key`; `table` is where the key is kept.
 * - `creates`: it makes a record in `table`, adds `idempotencyWrites(id)` to the transaction that does, and answers JSON. The first
 *   answer is kept. `replayCreated` answers the record of that id where an attempt died before it could answer.
 * - `signs`: its answer holds a presigned URL. It makes no record, and simply acts anew.
 */
export type Idempotence<
  N extends Needs,
  O extends OutputSpec,
  R extends Rule,
  P extends ProjectRule | undefined,
> =
  | {
      kind: 'creates';
      table: WriterOf<N>;
      replayCreated(id: string, context: Context<N, R, P>): Promise<Answer<O>>;
    }
  | { kind: 'signs'; table: WriterOf<N> };

/** Most requests of all callers together: as many a second, and as many at once. */
export interface Throttle {
  perSecond: number;
  burst: number;
}

/** With what a caller is identified. */
export interface Identification {
  platform: Platform;
  sourceIp: string;
}

/** A user, and the digest of the token under which they act. */
export interface Identity {
  user: User;
  token_hash: string;
}

/** Everything about one endpoint, stated once: routes, grants, the local gateway, documents and tests read it. */
export interface Endpoint<
  N extends Needs = Needs,
  I extends InputSpec = InputSpec,
  O extends OutputSpec = OutputSpec,
  R extends Rule = Rule,
  P extends ProjectRule | undefined = ProjectRule | undefined,
  M extends Method = Method,
  Path extends `/${string}` = `/${string}`,
> {
  /** Name of the operation, in camel case; also names the function in the cloud. */
  name: string;
  method: M;
  /** The published form of the path, with its trailing slash where the interface has one. */
  path: Path;
  summary: string;
  description?: string;
  allow: R;
  /** Its own throttle, beside that of the stage. Every operation that anybody may call has one: each answer is paid for. */
  throttle?: Throttle;
  /**
   * Refuses, by throwing a problem, callers who may not ask for just this, where `allow` cannot tell. Nothing has been
   * read or written for the request by then, nor for its `Idempotency-Key`.
   */
  permit?(input: Input<I>, asker: { caller: CallerOf<R>; settings: Settings }): void;
  project?: P;
  needs: N;
  input: I;
  output: O;
  /** Kinds of problem that this endpoint answers with besides those every endpoint has. */
  problems?: readonly ProblemKind[];
  /** The body of its errors in another shape than a problem document, where its clients expect one. */
  errorBody?(problem: ProblemDocument): object;
  /**
   * Finds out who presents an `Authorization` that is no bearer token.
   * @throws ServiceError `unauthenticated`; returns undefined for what it does not know either
   */
  identify?(authorization: string, asked: Identification): Promise<Identity | undefined>;
  /** Honours the `X-Fields` mask. */
  fieldsMask?: boolean;
  /** Takes the query parameter `fields` (`fields-parameter.ts`) and answers only the fields that it names. */
  fieldsParameter?: boolean;
  /** Puts an `ETag` on its answer, which then is a reply with the record's version. */
  etag?: boolean;
  /** Takes an `Idempotency-Key`: every POST that creates something, outside `/auth/`. */
  idempotent?: Idempotence<N, O, R, P>;
  /** What its function in the cloud has beyond the usual. */
  runtime?: FunctionRuntime;
  handle(input: Input<I>, context: Context<N, R, P>): Promise<Answer<O>>;
}

/** States one endpoint. The type parameters are inferred; misuse of a need does not compile. */
export function defineEndpoint<
  const N extends Needs,
  const I extends InputSpec,
  const O extends OutputSpec,
  const R extends Rule,
  const P extends ProjectRule | undefined = undefined,
  // Literal types, by which a client's calls are checked (shared/client).
  const M extends Method = Method,
  const Path extends `/${string}` = `/${string}`,
>(endpoint: Endpoint<N, I, O, R, P, M, Path>): Endpoint<N, I, O, R, P, M, Path> {
  return endpoint;
}

/** A body of fields: JSON or form, of at most `maxBytes`; or NDJSON, whose lines are the items of the field `lines`. */
export function fields<S extends z.ZodObject>(
  schema: S,
  maxBytes = fieldsMaxBytes,
  lines?: keyof z.input<S> & string,
): FieldsBody<S> {
  return { kind: 'fields', schema, maxBytes, ...(lines !== undefined && { lines }) };
}

/** A body that is a file of at most `maxBytes`. */
export function file(mediaTypes: readonly string[], maxBytes: number): FileBody {
  return { kind: 'file', mediaTypes, maxBytes };
}

/** An answer that may also be of these other media types; without `json` never JSON. */
export function content(mediaTypes: readonly string[]): Content<undefined>;
export function content<S extends z.ZodType>(mediaTypes: readonly string[], json: S): Content<S>;
export function content(mediaTypes: readonly string[], json?: z.ZodType): Content {
  return { kind: 'content', mediaTypes, json };
}

export const redirect: Redirect = { kind: 'redirect' };
