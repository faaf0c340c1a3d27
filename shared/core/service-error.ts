/** Kinds of errors that a caller can cause or receive. */
export type ErrorKind =
  | 'bad-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'idempotency-mismatch'
  | 'too-many-requests'
  | 'unavailable';

/** Where a faulty parameter was found. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'body';

/** One faulty parameter: its place, its published name, and a message with the fault and the allowed values. */
export interface ParameterFault {
  in: ParameterPlace;
  name: string;
  message: string;
}

interface ServiceErrorOptions {
  errors?: readonly ParameterFault[];
  /** Seconds after which a retry may succeed. */
  retryAfterSeconds?: number;
  /** A standard code within the kind, for example `invalid_grant` of RFC 6749. */
  code?: string;
  cause?: unknown;
}

/**
 * The one error class for everything that a caller can cause. It knows no protocol: `shared/http/definition/problem.ts` has the
 * status of each kind.
 *
 * @example
 * throw new ServiceError('unavailable', 'Too many pictures are being worked on. Try again shortly.', {
 *   retryAfterSeconds: 5,
 * });
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly kind: ErrorKind;
  readonly errors: readonly ParameterFault[];
  readonly retryAfterSeconds: number | undefined;
  readonly code: string | undefined;

  constructor(kind: ErrorKind, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.kind = kind;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.code = options.code;
  }
}

/**
 * A `bad-request` for all faulty parameters, the first 100 of them by name. `allowed` lists the allowed combinations of
 * parameters.
 */
export function badRequest(faults: readonly ParameterFault[], allowed?: string): ServiceError {
  const errors = faults.slice(0, maxFaults);
  const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more faults`] : [];
  const listed = [...errors.map((fault) => `${fault.name}: ${fault.message}`), ...more].join('; ');
  const detail = allowed === undefined ? listed : `${listed}. Allowed are: ${allowed}.`;
  return new ServiceError('bad-request', detail, { errors });
}

/** A small body may have 100,000 faults, more than fits into a response. */
const maxFaults = 100;

/** The faults of the `bad-request` that a check throws; empty if it throws nothing. */
export function faultsOf(check: () => void): readonly ParameterFault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'bad-request') return error.errors;
    throw error;
  }
}

/** A `not-found` for a record that does not exist or was deleted. */
export function notFound(what: string, id: string): ServiceError {
  return new ServiceError('not-found', `There is no ${what} ${id}.`);
}
