import { CommandError } from './command-error.ts';
import { HelpAsked } from './read-flags.ts';

/** What the SDK throws where no credentials are found; it says what to do. */
const noCredentials = 'CredentialsProviderError';

/** Whether the message of an error is all that a person needs. */
const isPlain = (error: Error): boolean => error instanceof CommandError || error.name === noCredentials;

/**
 * Runs what stands behind an npm script and ends the process with its exit code. What is the person's to put right is
 * told in its own words, anything else with its stack; both end with 1.
 */
export async function runCommand(command: () => Promise<number>): Promise<never> {
  try {
    process.exit(await command());
  } catch (error) {
    if (error instanceof HelpAsked) {
      process.stdout.write(`${error.message}\n`);
      process.exit(0);
    }
    const text = error instanceof Error ? (isPlain(error) ? error.message : error.stack) : String(error);
    process.stderr.write(`${text}\n`);
    process.exit(1);
  }
}
