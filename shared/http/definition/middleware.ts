import type { FunctionRuntime } from '../../core/function-runtime.ts';
import type { Logger } from '../../core/log.ts';
import type { Needs, Platform } from '../../core/needs.ts';
import type { TokenRight } from '../../data/accounts/token-scope.ts';
import type { CheckedProject } from '../../data/projects/change-in-project.ts';
import type { FieldsMask } from '../fields-mask/parse-mask.ts';
import type { Event, Park } from '../pipeline/proxy-event.ts';
import type { Caller, Identification, Identity, ProjectRule, Rule, Throttle } from './endpoint-context.ts';
import type { InputSpec } from './endpoint-input.ts';
import type { OutputSpec } from './endpoint-output.ts';
import type { ProblemDocument, ProblemKind } from './problem.ts';
import type { Method } from './request-method.ts';
import type { RequestWork } from './request-work.ts';

/** One request on its way through the steps of `lambda.ts`. Each step adds its result. */
export interface Exchange {
  readonly endpoint: AnyEndpoint;
  readonly platform: Platform;
  readonly event: Event;
  readonly requestId: string;
  readonly startedAt: number;
  readonly log: Logger;
  /**
   * Aborted once the request needs no response any more: its client has disconnected, or the time limit has
   * passed.
   */
  readonly signal: AbortSignal;
  /** Undefined on AWS, which charges for a function that waits. */
  readonly park: Park | undefined;
  caller?: Caller;
  /** Set for an endpoint with a project rule. */
  checked?: CheckedProject;
  input?: { path: unknown; query: unknown; queryOrBody: unknown; body: unknown; request: unknown };
  mask?: FieldsMask;
}

/** What an endpoint states whatever the types of its input, output and services are. */
export interface EndpointFacts {
  /** Name of the operation in camel case; also the name of its Lambda function. */
  name: string;
  summary: string;
  description?: string;
  /**
   * Its own throttle in addition to the stage's. Every public operation has one, because each response costs
   * money.
   */
  throttle?: Throttle;
  /**
   * The right that the scope of a token must have (`token-scope.ts`). By default `read` for a GET of a project that every
   * viewer may read, else `none`: a token with a scope is refused.
   */
  right?: TokenRight | 'none';
  /**
   * Whether `handle` keeps to the projects of `caller.scope`, or its answer is about no project. Without it, an endpoint
   * without `project_id` in its path refuses a scope with projects.
   */
  keepsToProjects?: true;
  /** What bounds the work of a request; undefined if it does not grow with the data. */
  work?: RequestWork;
  /** Whether a POST without `idempotent` may be repeated as it is: it sets something to one value. */
  repeatable?: true;
  /** Whether a POST only reads, because its list is longer than an address may be. */
  reads?: true;
  /** What a GET writes, and why. */
  writes?: string;
  /** How what it writes is audited; see {@link isAudited}. A GET with it is audited, too: a sign-in ends with one. */
  audit?: AuditRule;
  /** Kinds of problem that this endpoint returns in addition to those of every endpoint. */
  problems?: readonly ProblemKind[];
  /** Shapes the body of its errors, if its clients do not expect a problem document. */
  errorBody?(problem: ProblemDocument): object;
  /**
   * Identify the caller by an `Authorization` header without a bearer token.
   * @returns undefined for an unknown scheme
   * @throws ServiceError `unauthenticated`
   */
  identify?(authorization: string, asked: Identification): Promise<Identity | undefined>;
  /** Whether it supports the `X-Fields` mask. */
  fieldsMask?: boolean;
  /**
   * Whether it accepts the query parameter `fields` (`fields-parameter.ts`) and returns only the fields that it
   * names.
   */
  fieldsParameter?: boolean;
  /** Whether it sends an `ETag`. `handle` then returns a reply with the record's version. */
  etag?: boolean;
  /** Settings of its Lambda function that differ from the default. */
  runtime?: FunctionRuntime;
  /** Operations of a proxy, for the OpenAPI document. Their `handle` runs in the proxy's function. */
  operations?: readonly AnyEndpoint[];
}

/**
 * Every operation that writes has an audit record in its transaction, unless its rule says otherwise.
 * - `fields`: names of fields of the input whose values the record has, as those of `noteAudit({ before })`. No secrets.
 * - `hourly`: one record for each subject and token in an hour, because programs repeat the operation.
 * - `never`: it writes nothing that a caller asked for; then the reason.
 */
export interface AuditRule {
  fields?: readonly string[];
  hourly?: true;
  never?: string;
}

/** An endpoint without its type parameters, for code that treats all endpoints alike. */
export interface AnyEndpoint extends EndpointFacts {
  method: Method;
  path: `/${string}`;
  allow: Rule;
  project?: ProjectRule | undefined;
  needs: Needs;
  input: InputSpec;
  output: OutputSpec;
  idempotent?:
    | { kind: 'creates'; table: string; replayCreated(id: string, context: never): Promise<unknown> }
    | { kind: 'signs'; table: string };
  isHeavy?(input: never, asked: { accept: string | undefined }): boolean;
  permit?(input: never, asker: never): void;
  handle(input: never, context: never): Promise<unknown>;
}

/** A step before the behaviour, or around its answer. */
export type Middleware = (exchange: Exchange) => Promise<void> | void;
