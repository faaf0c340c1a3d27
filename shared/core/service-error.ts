/** Every kind of error that a caller can cause or meets. */
export type ErrorKind =
  | 'bad-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'request-timeout'
  | 'conflict'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'idempotency-mismatch'
  | 'too-many-requests'
  | 'headers-too-large'
  | 'internal'
  | 'unavailable';

/** Where a faulty parameter was found. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'body';

/** One faulty parameter: where it is, its published name, and what is wrong with it and allowed instead. */
export interface ParameterFault {
  in: ParameterPlace;
  name: string;
  message: string;
}

interface ServiceErrorOptions {
  errors?: readonly ParameterFault[];
  headers?: Readonly<Record<string, string>>;
  /** Further members of the problem document, such as the `error` of RFC 6749. */
  members?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The one error class for everything that a caller can cause. HTTP renders it as a problem document. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly kind: ErrorKind;
  readonly errors: readonly ParameterFault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, detail: string, options: ServiceErrorOptions = {}) {
    super(detail, { cause: options.cause });
    this.kind = kind;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }
}

/** 400 for faulty parameters, all of them at once; `allowed` says which combinations of them there are. */
export function badRequest(errors: readonly ParameterFault[], allowed?: string): ServiceError {
  const said = errors.map((fault) => `${fault.name}: ${fault.message}`).join('; ');
  const detail = allowed === undefined ? said : `${said}. Allowed are: ${allowed}.`;
  return new ServiceError('bad-request', detail, { errors });
}

/** Faults for which a check throws a 400 problem; none where it throws nothing. */
export function faultsOf(check: () => void): readonly ParameterFault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'bad-request') return error.errors;
    throw error;
  }
}

/** 404 for a record that does not exist (or no longer does). */
export function notFound(what: string, id: string): ServiceError {
  return new ServiceError('not-found', `There is no ${what} ${id}.`);
}
