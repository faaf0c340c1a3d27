/** What is wrong with a model or a request for it, said so that its owner can mend it. Never the service's fault. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}
