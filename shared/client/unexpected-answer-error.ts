/** What answers at this address is not the service, or not this version of it. */
export class UnexpectedAnswerError extends Error {
  override readonly name = 'UnexpectedAnswerError';
}
