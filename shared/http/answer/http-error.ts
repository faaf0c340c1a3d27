import type { ProblemKind } from '../definition/problem.ts';

/** An error that exists only in HTTP, or whose response needs its own headers. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly kind: ProblemKind;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ProblemKind, detail: string, headers: Readonly<Record<string, string>> = {}) {
    super(detail);
    this.kind = kind;
    this.headers = headers;
  }
}
