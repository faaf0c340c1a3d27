import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../shared/client/unexpected-answer-error.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';

/** What a call of the service, or of a tracking server, has failed with, in words. Undefined for any other error. */
export function clientErrorText(error: Error): string | undefined {
  if (error instanceof UnreachableError || error instanceof UnexpectedAnswerError) return error.message;
  if (!(error instanceof ProblemError)) return undefined;
  const faults = error.faults.map(({ name, message }) => `${name} ${message}`);
  return `The server answered ${error.status}: ${faults.join('; ') || error.message}`;
}
