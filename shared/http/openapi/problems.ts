import type { AnyEndpoint } from '../definition/exchange.ts';
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
    // Also for an operation without a body: a large one is not read.
    'too-large',
    'internal',
    'unavailable',
    ...problems,
    ...(canForbid(endpoint) ? (['forbidden'] as const) : []),
    ...(path.includes('{') ? (['not-found'] as const) : []),
    ...(readsRecords(endpoint) ? (['conflict'] as const) : []),
    ...(hasIdempotencyKey(endpoint) ? (['conflict', 'idempotency-mismatch'] as const) : []),
    ...(hasPrecondition(endpoint) ? (['precondition-failed'] as const) : []),
    ...(hasBody && !readsAnyType ? (['unsupported-media-type'] as const) : []),
  ]);
  return [...kinds].sort((one, other) => problemKinds[one].status - problemKinds[other].status);
}

/**
 * Whether the endpoint can return 403: it has a rule that some callers do not meet, or it writes, which pages of other
 * origins may not.
 */
const canForbid = ({ allow, method, project }: AnyEndpoint): boolean =>
  method !== 'GET' ||
  (allow !== 'anyone' && allow !== 'guest') ||
  (project !== undefined && project !== 'viewer');

/** Whether records are read, also the caller's. One that a newer version wrote is unreadable. */
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
      description: 'The kind of problem, as an address in these pages.',
    },
    title: { type: 'string', description: 'The kind of problem in words.' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What is wrong with this very request.' },
    instance: { type: 'string', description: 'The id of the request.' },
    errors: {
      type: 'array',
      description: 'Every faulty parameter, all at once.',
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

export const headerRefs = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const kindNames = Object.keys(problemKinds).filter((kind): kind is ProblemKind => kind in problemKinds);

const headersOf: Partial<Record<ProblemKind, readonly string[]>> = {
  unauthenticated: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  'too-many-requests': ['Retry-After'],
  unavailable: ['Retry-After'],
};

/** One response component per kind of problem, under the kind's name. */
export function problemResponses(): JsonSchema {
  return Object.fromEntries(
    kindNames.map((kind) => [
      kind,
      {
        description: problemMeanings[kind],
        headers: headerRefs(['X-Request-Id', ...(headersOf[kind] ?? [])]),
        content: {
          'application/problem+json': { schema: componentRef('Problem'), example: problemExample(kind) },
        },
      },
    ]),
  );
}

/** The meaning of each kind of problem, and what a caller can do about it. */
const problemMeanings: Readonly<Record<ProblemKind, string>> = {
  'bad-request':
    'A parameter is missing, unknown, given twice or malformed. `errors` names each one, its location and what is allowed. Nothing was changed.',
  unauthenticated:
    'There is no bearer token, or it is unknown, has expired or was revoked. Sign in with POST /auth/token. Behind API Gateway the WWW-Authenticate header arrives as x-amzn-remapped-www-authenticate.',
  forbidden:
    'The caller has no right to this: the account type is too low, the record is another user’s, or a page of an origin that is not listed tried to write.',
  'not-found': 'Nothing exists at this path, or the record does not exist any more.',
  'method-not-allowed': 'The path exists, but not with this method. The Allow header lists those that do.',
  'request-timeout': 'The request did not arrive whole within the time for it. Send it again.',
  conflict:
    'The request conflicts with the current state, which `detail` names. Change that state, or retry after another change came first. Also for a record that a newer version of the service wrote and this one cannot read.',
  'precondition-failed':
    'The record is not the one that If-Match or If-None-Match asks for: somebody changed it. Read it again and repeat the change.',
  'too-large':
    'The body that was sent, or the answer that would be sent, is larger than this operation takes, or takes too long to make. `detail` says what to ask for instead.',
  'unsupported-media-type': 'The Content-Type of the body is not one that this operation reads.',
  'idempotency-mismatch':
    'The Idempotency-Key was used before, for another request. Take a new key for each request.',
  'too-many-requests': 'Too many requests in too short a time. Wait for as many seconds as Retry-After says.',
  'headers-too-large': 'Request line and headers together have more than 10,240 bytes.',
  internal: 'Something went wrong in the service. The request id in `instance` finds it in the log.',
  unavailable:
    'Something that this service depends on does not respond. Wait as many seconds as Retry-After says, then repeat the request if that is safe.',
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
