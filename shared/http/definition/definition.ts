import type { FunctionRuntime } from '../../core/function-runtime.ts';
import type { Need, Needs } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import { readCredentials } from '../../data/accounts/needs.ts';
import type { TokenRight } from '../../data/accounts/token-scope.ts';
import { readRecords } from '../../data/table/needs.ts';
import type { TableName, TableWriter } from '../../data/table/table.ts';
import type {
  CallerOf,
  Context,
  Identification,
  Identity,
  ProjectRule,
  Rule,
  Throttle,
} from './endpoint-context.ts';
import type { Input, InputSpec } from './endpoint-input.ts';
import type { Answer, OutputSpec } from './endpoint-output.ts';
import type { AnyEndpoint } from './exchange.ts';
import type { ProblemDocument, ProblemKind } from './problem.ts';
import type { Method } from './request-method.ts';
import type { RequestWork } from './request-work.ts';

/** Define one endpoint. The type parameters are inferred; misuse of a need does not compile. */
export function defineEndpoint<
  const N extends Needs,
  const I extends InputSpec,
  const O extends OutputSpec,
  const R extends Rule,
  const P extends ProjectRule | undefined = undefined,
  // Literal types, which check the calls of clients (shared/client).
  const M extends Method = Method,
  const Path extends `/${string}` = `/${string}`,
>(endpoint: Endpoint<N, I, O, R, P, M, Path>): Endpoint<N, I, O, R, P, M, Path> {
  return endpoint;
}

type WriterOf<N extends Needs> = {
  [Name in keyof N]: N[Name] extends Need<TableWriter<TableName>> ? Name : never;
}[keyof N];

/**
 * How a POST that creates something handles an `Idempotency-Key`; `table` stores the key.
 * - `creates`: it makes a record in `table`, adds `idempotencyWrites(id)` to the same transaction, and returns
 * JSON. The first response is kept. If an attempt died before its response, `replayCreated` responds with the
 * record of that id.
 * - `signs`: its response contains a presigned URL. It makes no record, and acts again each time.
 */
type Idempotence<N extends Needs, O extends OutputSpec, R extends Rule, P extends ProjectRule | undefined> =
  | {
      kind: 'creates';
      table: WriterOf<N>;
      replayCreated(id: string, context: Context<N, R, P>): Promise<Answer<O>>;
    }
  | { kind: 'signs'; table: WriterOf<N> };

/** Everything about one endpoint, stated once: routes, grants, the local gateway, documents and tests read it. */
interface Endpoint<
  N extends Needs = Needs,
  I extends InputSpec = InputSpec,
  O extends OutputSpec = OutputSpec,
  R extends Rule = Rule,
  P extends ProjectRule | undefined = ProjectRule | undefined,
  M extends Method = Method,
  Path extends `/${string}` = `/${string}`,
> {
  /** Name of the operation in camel case; also the name of its Lambda function. */
  name: string;
  method: M;
  /** Published form of the path, with a trailing slash if the interface has one. */
  path: Path;
  summary: string;
  description?: string;
  allow: R;
  /**
   * Its own throttle in addition to the stage's. Every public operation has one, because each response costs
   * money.
   */
  throttle?: Throttle;
  /**
   * Refuse a caller by the input, if `allow` cannot decide; throw a problem. It runs before anything is read or
   * written for the request or its `Idempotency-Key`.
   */
  permit?(input: Input<I>, asker: { caller: CallerOf<R>; settings: Settings }): void;
  project?: P;
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
  needs: N;
  input: I;
  /** What bounds the work of a request; undefined if it does not grow with the data. */
  work?: RequestWork;
  /** Whether a POST without `idempotent` may be repeated as it is: it sets something to one value. */
  repeatable?: true;
  /** Whether a POST only reads, because its list is longer than an address may be. */
  reads?: true;
  /** What a GET writes, and why. */
  writes?: string;
  output: O;
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
  /**
   * Whether the work of a request grows with the data, such as all points of an experiment. A process does a few
   * such pieces of work at a time (`heavy-work.ts`), does equal ones once, and stops when no client waits any
   * more. The response may depend only on the input and `Accept`, and on the caller if the endpoint has no project
   * rule. `work` names the bound.
   */
  isHeavy?(input: Input<I>, asked: { accept: string | undefined }): boolean;
  /** Accepts an `Idempotency-Key`: every POST that creates something, outside `/auth/`. */
  idempotent?: Idempotence<N, O, R, P>;
  /** Settings of its Lambda function that differ from the default. */
  runtime?: FunctionRuntime;
  /** Operations of a proxy, for the OpenAPI document. Their `handle` runs in the proxy's function. */
  operations?: readonly AnyEndpoint[];
  handle(input: Input<I>, context: Context<N, R, P>): Promise<Answer<O>>;
}

/**
 * Return all services that an endpoint's function uses: the needs of its behaviour, and those of the steps before
 * it, which look up the bearer token and the project of a project rule.
 */
export function allNeeds({ needs, project }: Pick<Endpoint, 'needs' | 'project'>): Need<unknown>[] {
  return [readCredentials, ...(project === undefined ? [] : [readRecords]), ...Object.values(needs)];
}
