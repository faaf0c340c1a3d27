import { ProblemError } from '../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../shared/client/unexpected-answer-error.ts';
import { UnreachableError } from '../shared/client/unreachable-error.ts';
import { printableText } from '../shared/core/text/printable-text.ts';
import { gateExitCode } from '../shared/gates/gate.ts';
import { incompleteText } from './incomplete.ts';

/** An error that the user can fix. Its message says how. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  /** @param options as its cause the answer of the service that says so, whose id `--verbose` shows */
  constructor(message: string, exitCode: number = exitCodes.failure, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Exit codes of `mps`. `mps run` also exits with the code of the program that it follows. */
export const exitCodes = {
  failure: 1,
  /** Wrong flags or arguments. */
  usage: 2,
  /** The service cannot be reached. */
  unreachable: 3,
  notSignedIn: 4,
  /** A `--gate` condition fails. */
  gate: gateExitCode,
  /** `mps ci` has no base to compare with. */
  notCompared: 5,
  /** Interrupted by Ctrl-C. */
  interrupted: 130,
} as const;

/** Return the message of an error and the next step. Only `--verbose` shows the stack of an unexpected error. */
export function errorText(error: unknown, isVerbose: boolean): string {
  if (error instanceof ProblemError) return problemText(error, isVerbose);
  if (error instanceof UnreachableError)
    return `${error.message}\nStart the service with "npm start", or choose another service with "mps login URL" or MPS_URL.`;
  if (error instanceof UnexpectedAnswerError)
    return `${error.message}\nCheck the address; "mps whoami" shows the current one.`;
  if (error instanceof CliError) return [error.message, ...requestLines(error.cause, isVerbose)].join('\n');
  if (!(error instanceof Error)) return String(error);
  const incomplete = incompleteText(error);
  if (incomplete !== undefined) return incomplete;
  if (isFull(error))
    return `The disk is full: ${error.message}\nFree some space, then run the same command again.`;
  return isVerbose ? (error.stack ?? error.message) : `${error.message}\n--verbose shows more.`;
}

const nextSteps: Readonly<Record<number, string>> = {
  401: 'Sign in with "mps login".',
  403: 'Your account may not do this ("mps whoami" shows its type), or your token has too narrow a scope.',
  412: 'Somebody else has changed it. Try again.',
  429: 'Too many requests. Try again in a minute.',
};

/** What to do about something that the service does not have, by the beginning of its message. */
const missingSteps: Readonly<Record<string, string>> = {
  'There is no model ': 'See "mps models ls"; "mps models push MODEL FILE" uploads one.',
  'There is no data set ': 'See "mps data ls"; "mps data push NAME PATH" stores one.',
};

/** How to give with `mps` what a request lacked, by words of its fault. */
const refusedSteps: Readonly<Record<string, string>> = {
  'too short to be masked': 'To store a value that everybody may read: mps env set --plain NAME=VALUE',
  'url is required for a new hook':
    'Type the URL of the receiver, or pipe it in: mps hooks set NAME < url-file',
};

function nextStep({ status, message }: ProblemError): string | undefined {
  if (status === 400) return Object.entries(refusedSteps).find(([words]) => message.includes(words))?.[1];
  if (status !== 404) return nextSteps[status];
  return Object.entries(missingSteps).find(([beginning]) => message.startsWith(beginning))?.[1];
}

const problemText = (error: ProblemError, isVerbose: boolean): string =>
  [...refusalLines(error), ...requestLines(error, isVerbose)].join('\n');

const requestLines = (cause: unknown, isVerbose: boolean): string[] =>
  isVerbose && cause instanceof ProblemError && cause.requestId !== ''
    ? [`Request id: ${cause.requestId}`]
    : [];

/** Return what a refusal says, a line for each fault, and what to do about it. */
export function refusalLines(error: ProblemError): string[] {
  // The problem's message repeats its faults in one line, so print the faults instead.
  const lines =
    error.faults.length === 0
      ? [error.message]
      : error.faults.map(({ name, message }) => `${name} ${message}`);
  const next = nextStep(error);
  return [...lines.map(printableText), ...(next === undefined ? [] : [next])];
}

/** Error codes for a full disk, an exceeded quota, and a file that is too large for the file system. */
const fullCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

const isFull = (error: Error): boolean => fullCodes.includes(Reflect.get(error, 'code'));

/** Return the exit code for an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CliError) return error.exitCode;
  if (error instanceof UnreachableError) return exitCodes.unreachable;
  return error instanceof ProblemError && error.status === 401 ? exitCodes.notSignedIn : exitCodes.failure;
}

/** Pass on a request's answer. What the service refuses in the user's files (400) is an error of usage, as here. */
export async function usageFaults<Answer>(request: Promise<Answer>): Promise<Answer> {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof ProblemError) || error.status !== 400) throw error;
    throw new CliError(refusalLines(error).join('\n'), exitCodes.usage, { cause: error });
  }
}

/** Refuse two flags that contradict each other. @throws CliError if both are given */
export function refuseBoth(flags: Readonly<Record<string, unknown>>, advice: string): void {
  const given = Object.keys(flags).filter((name) => flags[name] !== undefined);
  if (given.length > 1)
    throw new CliError(
      `${given.map((name) => `--${name}`).join(' and ')} contradict each other. ${advice}`,
      exitCodes.usage,
    );
}
