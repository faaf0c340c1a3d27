/** Error about values that cannot be set. Its message names all of them. */
export class SetValueError extends Error {
  override readonly name = 'SetValueError';
}
