import { type DiskFault, diskFault } from '../../shared/core/disk-fault.ts';
import { awsErrorText } from './aws-error-text.ts';
import { clientErrorText } from './client-error-text.ts';
import { CommandError } from './command-error.ts';
import { HelpRequestedError } from './read-flags.ts';

const diskText: Readonly<Record<DiskFault, string>> = {
  full: 'The disk is full. Make room on it, and try again.',
  damaged:
    'A database is damaged. Restore the data folder from a copy that was made while the service was stopped.',
};

/** A fault of the disk in words, with what met it. */
function diskErrorText(error: Error): string | undefined {
  const fault = diskFault(error);
  return fault && `${diskText[fault]} (${error.message})`;
}

/** The error in words that say what to do; undefined where it is a defect of ours, whose stack is needed. */
const inWords = (error: Error): string | undefined =>
  error instanceof CommandError
    ? error.message
    : (clientErrorText(error) ?? diskErrorText(error) ?? awsErrorText(error));

/**
 * Run the main function of an npm script, and end the process with its exit code. An error that the user can fix is
 * printed as its message, any other with its stack; both end with 1.
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
