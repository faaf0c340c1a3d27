/** An error that the user of a command can fix; its message says how. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
