/** The message of whatever was thrown: a library may throw something that is no Error. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The class of an error, for logs that must not hold its message (it can quote what a user sent). */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

/** Where an error was thrown, for the operator's log alone. */
export function errorStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
