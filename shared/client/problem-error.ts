/** A parameter that the service refused. */
export interface RefusedParameter {
  /** Location of the parameter: `query`, `path`, `body` or `header`. */
  in: string;
  name: string;
  message: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function faultsIn(errors: unknown): RefusedParameter[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isObject).map((error) => ({
    in: textOf(error['in']),
    name: textOf(error['name']),
    message: textOf(error['message']),
  }));
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** An error answer of the service: its problem document (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly status: number;
  /** Kind of the problem, such as `not-found`; empty if a proxy or API Gateway answered. */
  readonly kind: string;
  readonly faults: readonly RefusedParameter[];
  /** Whether the answer has a message. Every error of the service has one. */
  readonly isExplained: boolean;
  /** Standard code within the kind, such as `authorization_pending` of RFC 8628; empty for most. */
  readonly code: string;
  /** Request ID in the service's log; empty if the answer has none. */
  readonly requestId: string;

  constructor(status: number, document: Readonly<Record<string, unknown>>, fallback: string) {
    const text = textOf(document['detail']) || textOf(document['message']);
    super(text || fallback);
    this.isExplained = text !== '';
    this.status = status;
    this.kind = /#problem-([a-z-]+)$/.exec(textOf(document['type']))?.[1] ?? '';
    this.faults = faultsIn(document['errors']);
    this.code = textOf(document['error']);
    this.requestId = textOf(document['instance']);
  }

  /** Read the body of a response and return its problem. */
  static async of(response: Response): Promise<ProblemError> {
    const text = await response.text();
    return new ProblemError(response.status, parseObject(text), `HTTP status ${response.status}`);
  }
}
