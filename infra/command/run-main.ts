import { ProblemError } from '../../shared/client/problem-error.ts';
import { UnexpectedAnswerError } from '../../shared/client/unexpected-answer-error.ts';
import { UnreachableError } from '../../shared/client/unreachable-error.ts';
import { type DiskFault, diskFault } from '../../shared/core/disk-fault.ts';
import { CommandError } from './command-error.ts';
import { HelpRequestedError } from './read-flags.ts';

/**
 * Run the main function of an npm script, and end the process with its exit code. If the user can fix an error,
 * print its message; otherwise print its stack. Both exit with 1.
 */
export async function runMain(command: () => Promise<number>): Promise<never> {
  try {
    process.exit(await command());
  } catch (error) {
    if (error instanceof HelpRequestedError) {
      process.stdout.write(`${error.message}\n`);
      process.exit(0);
    }
    const text = error instanceof Error ? (inWords(error) ?? error.stack) : String(error);
    process.stderr.write(`${text}\n`);
    process.exit(1);
  }
}

/**
 * Return a message that tells the user how to fix the error, or undefined for a defect of ours, which needs its
 * stack.
 */
const inWords = (error: Error): string | undefined =>
  error instanceof CommandError
    ? error.message
    : (clientErrorText(error) ?? diskErrorText(error) ?? awsErrorText(error));

/** Describe a failed call of the service or of a tracking server. Return undefined for any other error. */
function clientErrorText(error: Error): string | undefined {
  if (error instanceof UnreachableError || error instanceof UnexpectedAnswerError) return error.message;
  if (!(error instanceof ProblemError)) return undefined;
  const faults = error.faults.map(({ name, message }) => `${name} ${message}`);
  return `The server answered ${error.status}: ${faults.join('; ') || error.message}`;
}

const diskText: Readonly<Record<DiskFault, string>> = {
  full: 'The disk is full. Free some space, and try again.',
  damaged: 'A database is damaged. Restore the data folder from a copy made while the service was stopped.',
};

/** Describe a disk fault, with the original message. Return undefined for any other error. */
function diskErrorText(error: Error): string | undefined {
  const fault = diskFault(error);
  return fault && `${diskText[fault]} (${error.message})`;
}

const howToSignIn = `Set AWS_PROFILE to a profile of ~/.aws/config (after "aws sso login", if the profile uses SSO), or
AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN for temporary credentials.`;

const howToSetRegion = `Set AWS_REGION, a region in the AWS profile, or the option "region" (-c region=eu-central-1).`;

const unreachable = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'TimeoutError'];

/**
 * Describe an error of the AWS SDK and how to fix it. Return undefined for any other error. Recognize the error by
 * its name, because each package of the SDK has its own error classes.
 */
export function awsErrorText(error: Error): string | undefined {
  const { name, message } = error;
  if (lacksCredentials(error)) {
    return `No AWS credentials: ${message}\n${howToSignIn}`;
  }
  if (lacksRegion(error)) return `No AWS region.\n${howToSetRegion}`;
  if (refusedCredentials.includes(name)) {
    return `AWS refused the credentials (${name}): ${message}\n${howToSignIn}`;
  }
  if (unreachable.includes(codeOf(error)) || unreachable.includes(name)) {
    return `AWS cannot be reached: ${message}\nCheck the network and the region. ${howToSetRegion}`;
  }
  return '$metadata' in error ? `AWS refused: ${message} (${name})` : undefined;
}

const lacksCredentials = ({ name }: Error): boolean =>
  name === 'CredentialsProviderError' || name === 'TokenProviderError';
const lacksRegion = ({ message }: Error): boolean => message === 'Region is missing';

/** Whether an error says that the caller named no account, so nothing was asked of AWS. */
export const lacksAccount = (error: Error): boolean => lacksCredentials(error) || lacksRegion(error);

/** AWS error codes for invalid or expired credentials. */
const refusedCredentials = [
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidClientTokenId',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
  'InvalidAccessKeyId',
  'RequestExpired',
];

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';
