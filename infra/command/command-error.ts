/** An error that the user of a command can fix, as its message explains. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
