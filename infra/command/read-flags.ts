import { type ParseArgsConfig, parseArgs } from 'node:util';
import { CommandError } from './command-error.ts';

/**
 * Parse a command line with a `config` of `node:util`'s `parseArgs`.
 *
 * @param usage the text of `--help`, which also follows every error
 * @throws HelpRequestedError
 * @throws CommandError for an unknown flag, or for a flag without its value
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

/** The user gave `--help`. The message is the help text. */
export class HelpRequestedError extends Error {
  override readonly name = 'HelpRequestedError';
}

/** The flag that sets options of a deployment, as in the CDK. It overrides `cdk.json`. */
export const optionFlags = { context: { type: 'string', short: 'c', multiple: true } } as const;

/** The help text of that flag. */
export const optionUsage = `  -c option=value   an option of the deployment; overrides cdk.json; repeatable. infra/README.md
                    names all. Give every command of one deployment the same ones`;

/** Parse the values of `-c` into options by name. @throws CommandError for a value without a name */
export function givenOptions(context: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    context.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CommandError(`-c takes option=value, not "${text}".`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
