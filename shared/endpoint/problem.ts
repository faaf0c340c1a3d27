/**
 * Every kind of error the service answers with, in one table (RFC 9457).
 * `type` is a stable documentation path made of the kind.
 */
export const problemKinds = {
  'bad-request': { status: 400, title: 'Bad request' },
  unauthenticated: { status: 401, title: 'Sign-in needed' },
  forbidden: { status: 403, title: 'Not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Request took too long to arrive' },
  conflict: { status: 409, title: 'Conflict with the present state' },
  'precondition-failed': { status: 412, title: 'Changed by somebody else' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Media type not supported' },
  'idempotency-mismatch': { status: 422, title: 'Idempotency-Key used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'Request line and headers too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemKind = keyof typeof problemKinds;

/** Where a faulty parameter was found. */
export type ParameterPlace = 'path' | 'query' | 'header' | 'body';

/** One faulty parameter: where it is, its published name, and what is wrong with it and allowed instead. */
export interface ParameterFault {
  in: ParameterPlace;
  name: string;
  message: string;
}

interface ProblemOptions {
  errors?: readonly ParameterFault[];
  headers?: Readonly<Record<string, string>>;
  /** Further members of the problem document, such as the `error` of RFC 6749. */
  members?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** The one error class for everything that a caller can cause; the endpoint wrapper renders it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  readonly errors: readonly ParameterFault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, string>>;

  constructor(kind: ProblemKind, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.kind = kind;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.members = options.members ?? {};
  }

  get status(): number {
    return problemKinds[this.kind].status;
  }

  /** The `application/problem+json` document; `instance` is the request id. */
  document(instance: string): ProblemDocument {
    const { status, title } = problemKinds[this.kind];
    return {
      ...this.members,
      type: `/docs#problem-${this.kind}`,
      title,
      status,
      detail: this.message,
      instance,
      errors: this.errors,
      message: this.message,
    };
  }
}

export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  errors: readonly ParameterFault[];
  /** The same text as `detail`, where clients of Flask-RESTX services look for it. */
  message: string;
  [member: string]: unknown;
}

/** 400 for faulty parameters, all of them at once; `allowed` says which combinations of them there are. */
export function badRequest(errors: readonly ParameterFault[], allowed?: string): Problem {
  const said = errors.map((fault) => `${fault.name}: ${fault.message}`).join('; ');
  const detail = allowed === undefined ? said : `${said}. Allowed are: ${allowed}.`;
  return new Problem('bad-request', detail, { errors });
}

/** Faults for which a check throws a 400 problem; none where it throws nothing. */
export function faultsOf(check: () => void): readonly ParameterFault[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof Problem && error.kind === 'bad-request') return error.errors;
    throw error;
  }
}

/** 404 for a record that does not exist (or no longer does). */
export function notFound(what: string, id: string): Problem {
  return new Problem('not-found', `There is no ${what} ${id}.`);
}
