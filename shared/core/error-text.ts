/** Message of a thrown value. A library may throw a value that is not an Error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The class of an error, for logs that must not hold its message (it can quote what a user sent). */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

/** Stack of an error. Only for the operator's log. */
export function errorStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
