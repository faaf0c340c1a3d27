import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from './command-error.ts';

/** `--help` was given; the message is the help. */
export class HelpRequestedError extends Error {
  override readonly name = 'HelpRequestedError';
}

/**
 * Parse a command line by a `config` of `node:util`.
 *
 * @param usage the text of `--help`, which also follows every error
 * @throws HelpRequestedError
 * @throws CommandError for an unknown flag, or one without its value
 */
export function readFlags<Config extends ParseArgsConfig>(
  usage: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  const { args = process.argv.slice(2) } = config;
  if (args.includes('--help') || args.includes('-h')) throw new HelpRequestedError(usage);
  try {
    return parseArgs(config);
  } catch (error) {
    throw new CommandError(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}
