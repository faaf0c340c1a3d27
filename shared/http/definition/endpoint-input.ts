import type * as z from 'zod';
import { fieldsMaxBytes } from '../body/body-limit.ts';
import type { RequestMethod } from './request-method.ts';

/** A body of fields, sent as JSON or as a form. Form fields are strings, so use the coercing parameters. */
export interface FieldsBody<S extends z.ZodObject = z.ZodObject> {
  kind: 'fields';
  schema: S;
  maxBytes: number;
  /** Field whose items may be sent as NDJSON, one a line, instead of all fields. */
  lines?: string;
  /** Field whose numbers are kept as they are written, as text: `1.0`, `-0.0`, and more digits than a double has. */
  written?: string;
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

/** An unparsed request, for an endpoint that does its own routing. */
export interface RawRequest {
  method: RequestMethod;
  /** The greedy variable of the path, still percent-encoded. */
  path: string;
  query: URLSearchParams;
  mediaType: string;
  bytes: Uint8Array;
}

/** The request that replaces one whose body is too large for an event. */
interface LargeBody {
  path: string;
  body: object;
  /** Read the URL for the bytes, and the request that follows, from the response. */
  proceed(answer: unknown): { url: string; path: string; body: object };
}

/** How the local gateway passes on bodies that are too large for an event. On AWS clients do the same themselves. */
export interface LargeBodies {
  /** Undefined for a request without such a body. */
  begin(request: Pick<RawRequest, 'method' | 'path'>): LargeBody | undefined;
}

export interface InputSpec {
  /** The whole request, for a proxy, which has no other input. `maxBytes` limits its body. */
  request?: { maxBytes: number; largeBodies?: LargeBodies };
  path?: z.ZodObject;
  query?: z.ZodObject;
  /** Each parameter is accepted once, in the query or in the body (JSON or form). */
  queryOrBody?: z.ZodObject;
  body?: FieldsBody | FileBody;
}

type Parsed<S, Otherwise> = S extends z.ZodType ? z.output<S> : Otherwise;

type Nothing = Readonly<Record<never, never>>;

type ParsedBody<B> = B extends FieldsBody<infer S> ? z.output<S> : B extends FileBody ? File : undefined;

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

/** The same with a field whose numbers are texts, as they are written. */
export const fieldsWith = <S extends z.ZodObject>(
  schema: S,
  maxBytes: number,
  written: keyof z.input<S> & string,
): FieldsBody<S> => ({ kind: 'fields', schema, maxBytes, written });

/** A body that is a file of at most `maxBytes`. */
export function file(mediaTypes: readonly string[], maxBytes: number): FileBody {
  return { kind: 'file', mediaTypes, maxBytes };
}

/**
 * Maximum bytes of a body sent to an operation without a body. A small one is read and refused with a reason; a
 * larger one is not read.
 */
const noBodyMaxBytes = 1024;

/** Return the maximum bytes of the body of an operation's requests. */
export function bodyMaxBytes({ request, body, queryOrBody }: InputSpec): number {
  if (request !== undefined) return request.maxBytes;
  if (body !== undefined) return body.maxBytes;
  return queryOrBody === undefined ? noBodyMaxBytes : fieldsMaxBytes;
}

/**
 * The one media type for bytes that every client generator supports. For others they generate nothing, or a warning.
 */
export const bytesMediaType = 'application/octet-stream';
