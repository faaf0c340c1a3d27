/** The reason of a failed request, which `fetch` keeps in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // Both families of addresses were tried.
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : error.message;
}

/** No answer came: the service is away, or the connection was lost. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(origin: string, cause: unknown) {
    super(`${origin} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
}
