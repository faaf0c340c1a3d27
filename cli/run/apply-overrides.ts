import { CommandError } from '../../shared/command/parse-command.ts';
import { type FlagValues, hasFlag, setFlags } from '../../shared/command/set-flags.ts';
import { NumberLiteral } from '../../shared/config/set-values/typed-value.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { type ChosenConfig, chooseConfig } from './choose-config.ts';
import { hasValue, isCompound, type Override } from './override-config.ts';

/**
 * Apply the values of `-S` to the configuration and the command. `--lr` is a flag. `lr` is the configuration's value
 * if the file has it, else the flag of a command that has one, else a new value of the configuration.
 *
 * @throws CliError for a flag that cannot be set
 */
export async function applyOverrides(
  folder: string,
  files: ReadonlySet<string>,
  { named, overrides }: { named: string | undefined; overrides: readonly Override[] },
  command: string,
): Promise<{ config: ChosenConfig; command: string }> {
  const { config_id, content } = await chooseConfig(folder, files, named, []);
  const isFlag = ({ path }: Override): boolean => {
    const name = path.join('.');
    if (name.startsWith('-')) return true;
    const isPlaceholder = command.includes(`{${name}}`) || command.includes('{args}');
    return !isPlaceholder && !hasValue(config_id, content, path) && hasFlag(command, name);
  };
  const flags = overrides.filter(isFlag);
  const config = await chooseConfig(
    folder,
    files,
    named,
    overrides.filter((override) => !isFlag(override)),
  );
  return { config, command: flags.length === 0 ? command : withFlags(command, flags) };
}

function withFlags(command: string, flags: readonly Override[]): string {
  const values: Record<string, FlagValues[string]> = {};
  for (const { path, value } of flags) {
    const name = path.join('.');
    if (isCompound(value))
      throw new CliError(`${name}: a flag takes a single value, such as --lr=0.01.`, exitCodes.usage);
    values[name] = value instanceof NumberLiteral ? value.source : value;
  }
  try {
    return setFlags(command, values);
  } catch (error) {
    if (error instanceof CommandError) throw new CliError(`-S: ${error.message}.`, exitCodes.usage);
    throw error;
  }
}
