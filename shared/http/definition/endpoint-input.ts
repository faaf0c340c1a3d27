import type * as z from 'zod';
import { fieldsMaxBytes } from '../body/body-limit.ts';
import type { RequestMethod } from './request-method.ts';

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
