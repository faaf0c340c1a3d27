/** Return the reason of a failed request. `fetch` keeps it in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  // Node tried both IPv4 and IPv6 addresses.
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : error.message;
}

/** No answer arrived: the service is down, or the connection was lost. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(origin: string, cause: unknown) {
    super(`${origin} cannot be reached: ${reasonOf(cause)}`, { cause });
  }
}
