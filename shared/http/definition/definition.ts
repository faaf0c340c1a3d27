import type { Need, Needs } from '../../core/needs.ts';
import type { Settings } from '../../core/settings.ts';
import { auditAppends, readCredentials } from '../../data/accounts/needs.ts';
import { readRecords } from '../../data/table/needs.ts';
import type { TableName, TableWriter } from '../../data/table/table.ts';
import type { CallerOf, Context, ProjectRule, Rule } from './endpoint-context.ts';
import type { Input, InputSpec } from './endpoint-input.ts';
import type { Answer, OutputSpec } from './endpoint-output.ts';
import type { EndpointFacts } from './middleware.ts';
import type { Method } from './request-method.ts';

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
> extends EndpointFacts {
  method: M;
  /** Published form of the path, with a trailing slash if the interface has one. */
  path: Path;
  allow: R;
  /**
   * Refuse a caller by the input, if `allow` cannot decide; throw a problem. It runs before anything is read or
   * written for the request or its `Idempotency-Key`.
   */
  permit?(input: Input<I>, asker: { caller: CallerOf<R>; settings: Settings }): void;
  project?: P;
  needs: N;
  input: I;
  output: O;
  /**
   * Whether the work of a request grows with the data, such as all points of an experiment. A process does a few
   * such pieces of work at a time (`heavy-work.ts`), does equal ones once, and stops when no client waits any
   * more. The response may depend only on the input and `Accept`, and on the caller if the endpoint has no project
   * rule. `work` names the bound.
   */
  isHeavy?(input: Input<I>, asked: { accept: string | undefined }): boolean;
  /** Accepts an `Idempotency-Key`: every POST that creates something, outside `/auth/`. */
  idempotent?: Idempotence<N, O, R, P>;
  handle(input: Input<I>, context: Context<N, R, P>): Promise<Answer<O>>;
}

/**
 * Return all services that an endpoint's function uses: the needs of its behaviour, and those of the steps before
 * it, which look up the bearer token and the project of a project rule.
 */
export function allNeeds(endpoint: AuditedFacts & Pick<Endpoint, 'project'>): Need<unknown>[] {
  const { needs, project } = endpoint;
  const tables = isAudited(endpoint) ? writtenTables(endpoint) : [];
  return [
    readCredentials,
    ...(project === undefined ? [] : [readRecords]),
    ...Object.values(needs),
    ...tables.map((table) => auditAppends[table]),
  ];
}

type AuditedFacts = Pick<Endpoint, 'method' | 'needs' | 'reads' | 'audit'>;

const writtenTables = ({ needs }: Pick<Endpoint, 'needs'>): TableName[] =>
  (['accounts', 'records'] as const).filter((table) =>
    Object.values(needs).some(({ resource, level }) => resource === table && level === 'write'),
  );

/** Whether the requests of an endpoint that write have an audit record. Those of a proxy that read write none; a GET has one if it says so. */
export const isAudited = (endpoint: AuditedFacts): boolean =>
  (endpoint.method !== 'GET' || endpoint.audit !== undefined) &&
  endpoint.reads !== true &&
  endpoint.audit?.never === undefined &&
  writtenTables(endpoint).length > 0;
