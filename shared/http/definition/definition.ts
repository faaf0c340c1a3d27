import type { FunctionRuntime } from '../../core/function-runtime.ts';
import type { Need, Needs } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import type { TableName, TableWriter } from '../../data/table/table.ts';
import type { CallerOf, Context, Identification, Identity, ProjectRule, Rule } from './endpoint-context.ts';
import type { Input, InputSpec } from './endpoint-input.ts';
import type { Answer, OutputSpec } from './endpoint-output.ts';
import type { ProblemDocument, ProblemKind } from './problem.ts';
import type { Method } from './request-method.ts';

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
  /**
   * Whether the work of a request grows with what it asks about, such as all points of an experiment. A process does a few
   * of these at a time (`heavy-work.ts`), equal ones once, and stops when nobody waits any more. The answer depends on the
   * input and `Accept` alone, and on the caller where the endpoint has no project rule. `test/integration/gateway/growing-work.test.ts`
   * lists what each request may read.
   */
  isHeavy?(input: Input<I>, asked: { accept: string | undefined }): boolean;
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
