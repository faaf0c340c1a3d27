import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';

/**
 * Return the message of an error in one part of an import, for example of a file that is gone, so the other parts come.
 * Rethrow those of an unreachable service, of a wrong token, and of Ctrl-C.
 */
export function failureOf(error: unknown): string {
  const isEnd =
    error instanceof UnreachableError ||
    (error instanceof ProblemError && error.status === 401) ||
    (error as Error).name === 'AbortError';
  if (isEnd) throw error;
  return (error as Error).message;
}
