import { ProblemError } from '../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../shared/client/unexpected-answer-error.ts';
import { UnreachableError } from '../shared/client/unreachable-error.ts';
import { printableText } from '../shared/core/text/printable-text.ts';
import { CliError, exitCodes } from './cli-error.ts';

const nextSteps: Readonly<Record<number, string>> = {
  401: 'Sign in with "mps login".',
  403: 'Your account may not do this; "mps whoami" shows its type.',
  412: 'Somebody else changed it meanwhile. Try again.',
  429: 'The service asks for a pause. Try again in a minute.',
};

function problemText(error: ProblemError, isVerbose: boolean): string {
  // The message of refused parameters says the same in one line.
  const lines =
    error.faults.length === 0
      ? [error.message]
      : error.faults.map(({ name, message }) => `${name} ${message}`);
  const next = nextSteps[error.status];
  return [
    ...lines.map(printableText),
    ...(next === undefined ? [] : [next]),
    ...(isVerbose && error.requestId !== '' ? [`Request id: ${error.requestId}`] : []),
  ].join('\n');
}

/** No room on the disk, in the quota of the user, or in a file of this system. */
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const isFull = (error: Error): boolean => fullCodes.includes(Reflect.get(error, 'code'));

/** An error in words that say what to do. The stack of a defect is shown with `--verbose` alone. */
export function errorText(error: unknown, isVerbose: boolean): string {
  if (error instanceof ProblemError) return problemText(error, isVerbose);
  if (error instanceof UnreachableError)
    return `${error.message}\nStart the service with "npm start", or name another with "mps login URL" or MPS_URL.`;
  if (error instanceof UnexpectedAnswerError)
    return `${error.message}\nCheck the address; "mps whoami" shows which one is used.`;
  if (error instanceof CliError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (isFull(error)) return `The disk is full: ${error.message}\nMake room, then run the same command again.`;
  return isVerbose ? (error.stack ?? error.message) : `${error.message}\n--verbose shows more.`;
}

/** The exit code that tells a script what happened. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof UnreachableError) return exitCodes.unreachable;
  return error instanceof ProblemError && error.status === 401 ? exitCodes.notSignedIn : exitCodes.failure;
}
