import type { AnyEndpoint } from '../definition/exchange.ts';
import type { ProblemKind } from '../definition/problem.ts';
import { problemKinds } from '../definition/problem.ts';
import { fileBody, hasIdempotencyKey, hasPrecondition, readsBody } from './facts.ts';
import { componentRef, type JsonSchema } from './json-schema.ts';
import { problemMeanings } from './problem-meanings.ts';

/** Every problem document (RFC 9457), whatever its kind. */
export const problemSchema: JsonSchema = {
  type: 'object',
  description: 'An error, as RFC 9457 has it.',
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

const headersOf: Partial<Record<ProblemKind, readonly string[]>> = {
  unauthenticated: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  'too-many-requests': ['Retry-After'],
  unavailable: ['Retry-After'],
};

export const headerRefs = (names: readonly string[]): JsonSchema =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const kindNames = Object.keys(problemKinds).filter((kind): kind is ProblemKind => kind in problemKinds);

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

/**
 * Whether the caller's rights can be too few. A bad token is refused everywhere, too few rights only where there is a
 * rule, and pages of other origins wherever something is written.
 */
const canForbid = ({ allow, method, project }: AnyEndpoint): boolean =>
  method !== 'GET' ||
  (allow !== 'anyone' && allow !== 'guest') ||
  (project !== undefined && project !== 'viewer');

/** Whether records are read, the caller's among them: one that a newer version wrote may be unreadable. */
const readsRecords = ({ allow, needs }: AnyEndpoint): boolean =>
  allow !== 'anyone' ||
  Object.values(needs).some(({ resource }) => resource === 'records' || resource === 'accounts');

/** Kinds of problem that an endpoint can answer with, by status. */
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
    // Also where no body is taken: a large one is not read.
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
