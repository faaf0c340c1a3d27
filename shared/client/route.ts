import type * as z from 'zod';
import type { FieldsBody, FileBody, InputSpec } from '../http/definition/endpoint-input.ts';
import type { Content, OutputSpec } from '../http/definition/endpoint-output.ts';
import type { Method } from '../http/definition/request-method.ts';

/** The types of an endpoint that a call needs: `typeof endpoint`, imported as a type. */
export interface Called {
  method: Method;
  path: `/${string}`;
  input: InputSpec;
  output: OutputSpec;
}

/** Method and path of an endpoint, such as `GET /projects/`. A call needs nothing else at run time. */
export type Route<E extends Called> = `${E['method']} ${E['path']}`;

type Empty = Record<never, never>;
type Part<Name extends string, S> = S extends z.ZodType
  ? Empty extends z.input<S>
    ? { [K in Name]?: z.input<S> }
    : { [K in Name]: z.input<S> }
  : unknown;

export type FileContent = Uint8Array<ArrayBuffer> | Blob | string;

type BodyPart<B> =
  B extends FieldsBody<infer S> ? Part<'body', S> : B extends FileBody ? { file: FileContent } : unknown;

/** Options of every call. */
export interface CallOptions {
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** The parameters of an endpoint, grouped by location. */
export type RequestOf<E extends Called> = CallOptions &
  Part<'path', E['input']['path']> &
  Part<'query', E['input']['query']> &
  Part<'fields', E['input']['queryOrBody']> &
  BodyPart<E['input']['body']>;

/** The request argument; optional if no parameter is required. */
export type RequestArguments<E extends Called> =
  Empty extends RequestOf<E> ? [request?: RequestOf<E>] : [request: RequestOf<E>];

type JsonOf<O> = O extends z.ZodType
  ? z.output<O>
  : O extends Content<infer S>
    ? S extends z.ZodType
      ? z.output<S>
      : never
    : never;

/** JSON answer of an endpoint. */
export type AnswerOf<E extends Called> = JsonOf<E['output'][Extract<keyof E['output'], 200 | 201>]>;

/** Row type of an endpoint that answers a list. */
export type RowOf<E extends Called> = AnswerOf<E> extends readonly (infer Row)[] ? Row : never;
