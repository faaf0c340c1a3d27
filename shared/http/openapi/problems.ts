import type { AnyEndpoint } from '../definition/middleware.ts';
import { type ProblemKind, problemKinds } from '../definition/problem.ts';
import { fileBody, hasIdempotencyKey, hasPrecondition, readsBody } from './facts.ts';
import { componentRef, type JsonSchema } from './json-schema.ts';

/** Kinds of problem that an endpoint can return, ordered by status. */
export function problemsOf(endpoint: AnyEndpoint): ProblemKind[] {
  const { path, problems = [] } = endpoint;
  const hasBody = readsBody(endpoint);
  const readsAnyType = fileBody(endpoint)?.mediaTypes.includes('*/*') === true;
  const kinds = new Set<ProblemKind>([
    'bad-request',
    'unauthenticated',
    'request-timeout',
    'too-many-requests',
    'headers-too-large',
    // Operations without a body may return this as well, because a large body is not read.
    'too-large',
    'internal',
    'unavailable',
    ...problems,
    ...(canForbid(endpoint) ? (['forbidden'] as const) : []),
    ...(path.includes('{') ? (['not-found'] as const) : []),
    ...(readsRecords(endpoint) ? (['conflict'] as const) : []),
    // What an earlier request with the key made may have been deleted since.
    ...(hasIdempotencyKey(endpoint) ? (['not-found', 'conflict', 'idempotency-mismatch'] as const) : []),
    ...(hasPrecondition(endpoint) ? (['precondition-failed'] as const) : []),
    ...(hasBody && !readsAnyType ? (['unsupported-media-type'] as const) : []),
  ]);
  return [...kinds].sort((a, b) => problemKinds[a].status - problemKinds[b].status);
}

/**
 * Whether the endpoint can return 403: it has callers, whose token may have too narrow a scope, or it writes, which pages of
 * other origins may not.
 */
const canForbid = ({ allow, method }: AnyEndpoint): boolean => method !== 'GET' || allow !== 'anyone';

/** Return whether records are read, including the caller's. A record of a newer version is unreadable. */
const readsRecords = ({ allow, needs }: AnyEndpoint): boolean =>
  allow !== 'anyone' ||
  Object.values(needs).some(({ resource }) => resource === 'records' || resource === 'accounts');

/** The schema of every problem document (RFC 9457). */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'An error (RFC 9457).',
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'URL of the kind of problem in this reference.',
    },
    title: { type: 'string', description: 'Title of the kind of problem.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'Description of the problem with this request.' },
    instance: { type: 'string', description: 'ID of the request.' },
    errors: {
      type: 'array',
      description: 'All faulty parameters.',
      items: {
        type: 'object',
        properties: {
          in: { type: 'string', enum: ['path', 'query', 'header', 'body'] },
          name: { type: 'string' },
          message: { type: 'string' },
        },
        required: ['in', 'name', 'message'],
      },
    },
    message: { type: 'string', description: 'The same text as `detail`.' },
  },
  required: ['type', 'title', 'status', 'detail', 'instance', 'errors', 'message'],
};

/** The schema of the errors of an endpoint with an `errorBody`: those of the Open Inference Protocol. */
export const plainErrorSchema: JsonSchema = {
  type: 'object',
  description: 'An error of the Open Inference Protocol.',
  properties: { error: { type: 'string', description: 'Description of the problem with this request.' } },
  required: ['error'],
};

/** Return the response component of a kind of problem of this endpoint. */
export const problemRef = ({ errorBody }: AnyEndpoint, kind: ProblemKind): JsonSchema => ({
  $ref: `#/components/responses/${errorBody === undefined ? kind : plainName(kind)}`,
});

const plainName = (kind: ProblemKind): string => `plain-${kind}`;

export const headerRefs = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const kindNames = Object.keys(problemKinds).filter((kind): kind is ProblemKind => kind in problemKinds);

const headersOf: Partial<Record<ProblemKind, readonly string[]>> = {
  unauthenticated: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  'too-many-requests': ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** Two response components per kind of problem: under its name as a problem document, and as a plain error. */
export function problemResponses(): JsonSchema {
  const plain = { 'application/json': { schema: componentRef('PlainError') } };
  return Object.fromEntries(
    kindNames.flatMap((kind) => {
      const headers = headerRefs(['X-Request-Id', ...(headersOf[kind] ?? [])]);
      const problem = { schema: componentRef('Problem'), example: problemExample(kind) };
      const content = { 'application/problem+json': problem };
      return [
        [kind, { description: problemMeanings[kind], headers, content }],
        [plainName(kind), { description: `${problemKinds[kind].title}.`, headers, content: plain }],
      ];
    }),
  );
}

/** The meaning of each kind of problem, and what a caller can do about it. */
const problemMeanings: Readonly<Record<ProblemKind, string>> = {
  'bad-request':
    'A parameter is missing, unknown, given twice or malformed. `errors` names each one, its location and what is allowed. Nothing was changed.',
  unauthenticated:
    'The bearer token is missing, unknown, expired or revoked. Sign in with POST /auth/token. Behind API Gateway the WWW-Authenticate header arrives as x-amzn-remapped-www-authenticate.',
  forbidden:
    'The caller may not do this. The account type is too low, the record belongs to another user, or the write came from a page of an origin that is not listed.',
  'not-found': 'Nothing exists at this path, or the record was deleted.',
  'method-not-allowed': 'The path does not support this method. The Allow header lists the supported ones.',
  'request-timeout': 'The request did not arrive completely in time. Send it again.',
  conflict:
    'The request conflicts with the current state, which `detail` describes. Change that state, or retry if another change came first. A record of a newer version of the service, which this version cannot read, also causes this.',
  'precondition-failed':
    'The record has changed, so If-Match or If-None-Match does not hold. Read it again and repeat the change.',
  'too-large':
    'The request body or the response is too large for this operation, or the response takes too long to make. `detail` names an alternative.',
  'unsupported-media-type': 'This operation does not support the Content-Type of the body.',
  'idempotency-mismatch':
    'The Idempotency-Key was already used for another request. Use a new key for each request.',
  'too-many-requests': 'Too many requests in too short a time. Wait for the seconds in Retry-After.',
  'headers-too-large': 'Request line and headers together have more than 10,240 bytes.',
  internal: 'The service failed unexpectedly. Search its log for the request ID in `instance`.',
  unavailable:
    'A service that this one depends on does not respond. Wait for the seconds in Retry-After, then repeat the request if that is safe.',
};

function problemExample(kind: ProblemKind): JsonSchema {
  const { status, title } = problemKinds[kind];
  const detail =
    kind === 'bad-request' ? 'limit: must be a whole number from 1 to 1000' : problemMeanings[kind];
  const errors =
    kind === 'bad-request'
      ? [{ in: 'query', name: 'limit', message: 'must be a whole number from 1 to 1000' }]
      : [];
  const instance = '3f0c5a9e-6d2b-4c8e-9a51-7b1d2e4f6a80';
  return { type: `/docs#problem-${kind}`, title, status, detail, instance, errors, message: detail };
}
