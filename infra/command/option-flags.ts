import { CommandError } from './command-error.ts';

/** The flag by which every command about a deployment takes options, as the CDK does, over those of `cdk.json`. */
export const optionFlags = { context: { type: 'string', short: 'c', multiple: true } } as const;

/** The flag in the help of a command. */
export const optionUsage = `  -c option=value   an option of the deployment, over the one in cdk.json; may be given more than once. infra/README.md
                    names all. Give every command of one deployment the same ones`;

/** Options by name from values of `-c`. @throws CommandError for a value without a name */
export function givenOptions(context: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    context.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw new CommandError(`-c takes option=value, not "${text}".`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}
