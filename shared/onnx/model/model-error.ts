/** A model or its request is not valid. The message tells its owner how to correct it. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
