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

/** An endpoint without its type parameters, for code that treats all endpoints alike. */
export interface AnyEndpoint {
  name: string;
  method: Method;
  path: `/${string}`;
  summary: string;
  description?: string;
  allow: Rule;
  throttle?: Throttle;
  project?: ProjectRule | undefined;
  right?: TokenRight | 'none';
  keepsToProjects?: true;
  needs: Needs;
  input: InputSpec;
  work?: RequestWork;
  repeatable?: true;
  reads?: true;
  writes?: string;
  output: OutputSpec;
  problems?: readonly ProblemKind[];
  errorBody?(problem: ProblemDocument): object;
  identify?(authorization: string, asked: Identification): Promise<Identity | undefined>;
  fieldsMask?: boolean;
  fieldsParameter?: boolean;
  etag?: boolean;
  idempotent?:
    | { kind: 'creates'; table: string; replayCreated(id: string, context: never): Promise<unknown> }
    | { kind: 'signs'; table: string };
  isHeavy?(input: never, asked: { accept: string | undefined }): boolean;
  permit?(input: never, asker: never): void;
  runtime?: FunctionRuntime;
  operations?: readonly AnyEndpoint[];
  handle(input: never, context: never): Promise<unknown>;
}

/** A step before the behaviour, or around its answer. */
export type Before = (exchange: Exchange) => Promise<void> | void;
