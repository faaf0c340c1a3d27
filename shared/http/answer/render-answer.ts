import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { ServiceError } from '../../core/service-error.ts';
import { encodeCursor } from '../definition/cursor.ts';
import { jsonSchema, successStatus } from '../definition/endpoint-output.ts';
import type { AnyEndpoint, Exchange } from '../definition/middleware.ts';
import { type NextPage, Reply } from '../definition/reply.ts';
import { applyMask, maskedSchema } from '../fields-mask/fields-mask.ts';
import type { FieldsMask } from '../fields-mask/parse-mask.ts';
import { headerOf, type Result } from '../pipeline/proxy-event.ts';
import {
  acceptsGzip,
  compressed,
  compressedTag,
  isCompressible,
  varyByEncoding,
} from './content-encoding.ts';
import { fitsPayload, maxPayloadBytes } from './payload-bytes.ts';
import { securityHeaders } from './security-headers.ts';

interface Rendered {
  mediaType: string;
  body: string | Uint8Array;
  isPassing?: boolean | undefined;
}

/** Render the result of an endpoint for API Gateway, compressed if the caller accepts gzip. */
export async function renderAnswer(exchange: Exchange, answer: unknown): Promise<Result> {
  const { endpoint, event, requestId, mask } = exchange;
  const reply: Reply<unknown> = answer instanceof Reply ? answer : Reply.json(answer);
  const headers: Record<string, string> = {
    ...securityHeaders,
    'Cache-Control': endpoint.allow === 'anyone' ? 'no-cache' : 'private, no-cache',
    'X-Request-Id': requestId,
    ...(reply.next !== undefined && { Link: linkTo(reply.next, exchange) }),
    ...reportUnreadable(exchange, reply),
    ...reply.headers,
  };
  if (reply.body.kind === 'redirect') {
    headers['Location'] = reply.body.locations[event.httpMethod === 'HEAD' ? 'HEAD' : 'GET'];
    return { statusCode: 302, headers, body: '' };
  }
  const rendered: Rendered =
    reply.body.kind === 'json'
      ? { mediaType: 'application/json', body: await renderJson(endpoint, reply.body.value, mask) }
      : { mediaType: reply.body.mediaType, body: reply.body.bytes, isPassing: reply.body.isPassing };
  headers['Content-Type'] = rendered.mediaType;
  const isCoded = isCompressible(rendered.mediaType, Buffer.byteLength(rendered.body));
  const isCompressed = isCoded && acceptsGzip(headerOf(event, 'accept-encoding'));
  if (isCoded) headers['Vary'] = varyByEncoding(headers['Vary']);
  if (reply.version !== undefined) {
    const tag = entityTag(reply.version, rendered.body);
    headers['ETag'] = isCompressed ? compressedTag(tag) : tag;
    const known = headerOf(event, 'if-none-match');
    const isKnown = noneMatchNames(known, tag) || noneMatchNames(known, compressedTag(tag));
    if (endpoint.method === 'GET' && isKnown) {
      const { 'Content-Type': _, ...kept } = headers;
      return { statusCode: 304, headers: kept, body: '' };
    }
  }
  const statusCode = successStatus(endpoint.output);
  // An answer that is too large uncompressed is refused to every caller, not only to those without gzip.
  const plain = requireFit({ statusCode, headers, ...payload(rendered.body) });
  if (!isCompressed) return plain;
  headers['Content-Encoding'] = 'gzip';
  const packed = payload(await compressed(rendered.body, rendered.isPassing));
  return requireFit({ statusCode, headers, ...packed });
}

/** Return the `Link` header to the next page. Its cursor is valid only for this list. */
function linkTo({ after, query }: NextPage, { endpoint, input }: Exchange): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
  );
  const cursor = encodeCursor({ name: endpoint.name, path: input?.path, query }, after);
  return `<?${new URLSearchParams([...given, ['cursor', cursor]]).toString()}>; rel="next"`;
}

/** Maximum number of records that one response names in the log. After a rollback there may be thousands. */
const maxNamed = 10;

/** Report the records that a response leaves out: their keys in the log, their number to the caller. */
function reportUnreadable({ log }: Exchange, { unreadable }: Reply<unknown>): Record<string, string> {
  if (unreadable.length === 0) return {};
  for (const { key, reason } of unreadable.slice(0, maxNamed))
    log.error('unreadable-record', { key, reason });
  if (unreadable.length > maxNamed) log.error('unreadable-records', { count: unreadable.length });
  return { 'X-Unreadable-Records': String(unreadable.length) };
}

/** Rows written in one turn of the event loop, which takes some milliseconds. */
const rowsAtOnce = 250;

/**
 * Write a response as JSON. It contains only the fields that the output schema declares, so no field of a record
 * leaks, and of those only the ones that the mask names. A long list is written in slices, so other requests are
 * served in between.
 */
export async function renderJson(
  endpoint: Pick<AnyEndpoint, 'name' | 'output'>,
  value: unknown,
  mask?: FieldsMask,
): Promise<string> {
  const schema = jsonSchema(endpoint);
  const parser = mask === undefined ? schema : maskedSchema(schema, mask);
  const write = (part: unknown): string => {
    const shaped = parser.parse(part);
    return JSON.stringify(mask === undefined ? shaped : applyMask(mask, schema, shaped));
  };
  if (!Array.isArray(value) || schema.type !== 'array' || value.length <= rowsAtOnce) return write(value);
  const slices: string[] = [];
  for (let first = 0; first < value.length; first += rowsAtOnce) {
    slices.push(write(value.slice(first, first + rowsAtOnce)).slice(1, -1));
    await setImmediate();
  }
  return `[${slices.join(',')}]`;
}

/** `"<version>-<hash>"`. `If-Match` compares the version, `If-None-Match` the whole tag. */
function entityTag(version: number, body: string | Uint8Array): string {
  return `"${version}-${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`;
}

/** Return whether an `If-None-Match` header names this tag, by weak comparison (RFC 9110, 13.1.2). */
function noneMatchNames(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}

/**
 * Return the response.
 * @throws ServiceError `too-large` if Lambda would not send it
 */
function requireFit(answer: Result): Result {
  if (fitsPayload(answer)) return answer;
  const most = `${Math.floor(maxPayloadBytes / 1_000_000)} MB`;
  throw new ServiceError(
    'too-large',
    `The response would exceed the maximum of ${most}. Request a part of it, or another format.`,
  );
}

function payload(body: string | Uint8Array): Pick<Result, 'body' | 'isBase64Encoded'> {
  if (typeof body === 'string') return { body };
  return { body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
}
