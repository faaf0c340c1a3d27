/** Something is wrong that the person at the keyboard can put right; its message says how. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
