import { type ParameterFault, ServiceError } from '../../core/service-error.ts';
import type { FieldsBody, FileBody } from '../definition/endpoint-input.ts';
import { bodyBytes, type Event, headerOf } from '../pipeline/proxy-event.ts';
import { tooLargeBody } from './body-limit.ts';
import { isDeepJson, maxJsonDepth } from './json-depth.ts';
import { notUtf8, parametersNotUtf8 } from './percent-encoding.ts';

/** @throws ServiceError `too-large` for a body of more than `most` bytes */
export function checkBodySize(event: Event, most: number): void {
  const { length } = bodyBytes(event);
  if (length > most) throw tooLargeBody(most, length);
}

/** Values before a schema parses them, with the faults found while reading them. */
export interface RawFields {
  values: Record<string, unknown>;
  faults: ParameterFault[];
}

/** Return the parameters by name. Each may be given once; those in `lists` may be repeated. */
export function singleValues(
  pairs: Iterable<readonly [string, readonly string[]]>,
  place: 'query' | 'body',
  lists: ReadonlySet<string> = new Set(),
): RawFields {
  const values: [string, unknown][] = [];
  const faults: ParameterFault[] = [];
  for (const [name, given] of pairs) {
    if (lists.has(name)) {
      values.push([name, given]);
      continue;
    }
    if (given.length > 1)
      faults.push({ in: place, name, message: `is given ${given.length} times; give it once` });
    values.push([name, given[0]]);
  }
  return { values: Object.fromEntries(values), faults };
}

/**
 * Left out of the OpenAPI document, because generated clients do not send it. The descriptions of operations
 * mention it.
 */
const ndjson = 'application/x-ndjson';

/**
 * Read fields sent as JSON or as a form. With `lines`, also read NDJSON, whose lines are the items of that field.
 * An empty body has no fields.
 */
export function readFields(
  event: Event,
  { lines, written }: Pick<FieldsBody, 'lines' | 'written'> = {},
): RawFields {
  const bytes = bodyBytes(event);
  if (bytes.length === 0) return { values: {}, faults: [] };
  const mediaType = mediaTypeOf(event);
  requireUtf8(event);
  const text = decodeText(bytes);
  if (text === undefined) return { values: {}, faults: [fault('is not valid UTF-8')] };
  if (mediaType === 'application/json') return jsonFields(text, written);
  if (mediaType === 'application/x-www-form-urlencoded') return formFields(text);
  if (lines !== undefined && mediaType === ndjson) return jsonLines(text, lines);
  const allowed = ['application/json', 'application/x-www-form-urlencoded'];
  throw unsupported(mediaType, lines === undefined ? allowed : [...allowed, ndjson]);
}

const mediaTypeOf = (event: Event): string =>
  (headerOf(event, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i;

/** US-ASCII is a part of UTF-8. */
const charsets = ['utf-8', 'utf8', 'us-ascii'];

/** Refuse fields in an encoding other than UTF-8, because they would be misread. */
function requireUtf8(event: Event): void {
  const named = charset.exec(headerOf(event, 'content-type') ?? '')?.[1];
  if (named === undefined || charsets.includes(named.toLowerCase())) return;
  throw new ServiceError('unsupported-media-type', `The charset ${named} is not supported; send UTF-8.`);
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const fault = (message: string): ParameterFault => ({ in: 'body', name: 'body', message });

const tooDeep = `is nested deeper than ${maxJsonDepth} levels`;

function jsonFields(text: string, written?: string): RawFields {
  if (isDeepJson(text)) return { values: {}, faults: [fault(tooDeep)] };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { values: { ...value, ...asWritten(text, value, written) }, faults: [] };
    return { values: {}, faults: [fault('must be a JSON object')] };
  } catch {
    return { values: {}, faults: [fault('is not valid JSON')] };
  }
}

/** Return a field of a JSON text with its numbers as texts, as they are written. */
function asWritten(text: string, value: object, name: string | undefined): Record<string, unknown> {
  if (name === undefined || !Object.hasOwn(value, name)) return {};
  const sourceOf = (_: string, one: unknown, context?: { source?: string }): unknown =>
    typeof one === 'number' ? context?.source : one;
  const sources: Record<string, unknown> = JSON.parse(text, sourceOf);
  return { [name]: sources[name] };
}

function formFields(text: string): RawFields {
  const parameters = new URLSearchParams(text);
  const given = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const before = given.get(name);
    if (before === undefined) given.set(name, [value]);
    else before.push(value);
  }
  const { values, faults } = singleValues(given, 'body');
  const broken = parametersNotUtf8(text).map(
    (name): ParameterFault => ({ in: 'body', name, message: notUtf8 }),
  );
  return { values, faults: [...broken, ...faults] };
}

/** Return the items of one field, one JSON text per line. Skip empty lines. */
function jsonLines(text: string, name: string): RawFields {
  const items: unknown[] = [];
  const faults: ParameterFault[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    if (isDeepJson(line)) {
      faults.push(fault(`line ${index + 1} ${tooDeep}`));
      break;
    }
    try {
      items.push(JSON.parse(line));
    } catch {
      faults.push(fault(`line ${index + 1} is not valid JSON`));
      break;
    }
  }
  return { values: { [name]: items }, faults };
}

function unsupported(given: string, allowed: readonly string[]): ServiceError {
  return new ServiceError(
    'unsupported-media-type',
    `Content-Type ${given === '' ? 'is missing' : `${given} is not supported here`}; send ${allowed.join(' or ')}.`,
  );
}

/** Read a body that is a file. The media type `*` with the subtype `*` allows all. */
export function readFile(
  event: Event,
  { mediaTypes }: Pick<FileBody, 'mediaTypes'>,
): { mediaType: string; bytes: Uint8Array } {
  const bytes = bodyBytes(event);
  const mediaType = mediaTypeOf(event);
  if (!mediaTypes.includes('*/*') && !mediaTypes.includes(mediaType))
    throw unsupported(mediaType, mediaTypes);
  return { mediaType, bytes };
}

/** Refuse a body where the operation takes none, so that no caller believes it was read. */
export function refuseBody(event: Event): ParameterFault[] {
  const bytes = bodyBytes(event);
  const empty = bytes.length === 0 || (bytes.length <= 4 && Buffer.from(bytes).toString().trim() === '{}');
  return empty ? [] : [fault('this operation has no body; send its parameters in the query')];
}
