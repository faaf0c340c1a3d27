import type { ErrorKind, ParameterFault } from '../../core/service-error.ts';

type HttpErrorKind = 'method-not-allowed' | 'request-timeout' | 'headers-too-large' | 'internal';

/** Kinds of errors in answers. `type` of a problem document is a stable documentation path made of the kind. */
export type ProblemKind = ErrorKind | HttpErrorKind;

/** Status and title of every kind (RFC 9457). */
export const problemKinds = {
  'bad-request': { status: 400, title: 'Bad request' },
  unauthenticated: { status: 401, title: 'Sign-in needed' },
  forbidden: { status: 403, title: 'Not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request took too long to arrive' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  'precondition-failed': { status: 412, title: 'Changed by another request' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Media type not supported' },
  'idempotency-mismatch': { status: 422, title: 'Idempotency-Key used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'Request line and headers too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<ProblemKind, { status: number; title: string }>;

/** The `application/problem+json` document of an error. */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  errors: readonly ParameterFault[];
  /** The same text as `detail`; clients of Flask-RESTX services read it here. */
  message: string;
  [member: string]: unknown;
}
