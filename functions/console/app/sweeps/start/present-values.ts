import { commandArguments } from '../../../../../shared/command/command-arguments.ts';
import { commandWords } from '../../../../../shared/command/parse-command.ts';
import { ConfigSyntaxError } from '../../../../../shared/config/config-syntax-error.ts';
import { parseConfigFile } from '../../../../../shared/config/parse-config-file.ts';
import { scalarLeaves } from '../../../../../shared/config/scalar-leaves.ts';
import { type Scalar, scalarLike } from './suggest-space.ts';

/** Values that a sweep can replace, by their names. */
export type PresentValues = readonly (readonly [string, Scalar])[];

/** Return the single values of a configuration, at most the first 1,000. Return none for a file that has errors. */
export function valuesOfConfig(config_id: string, content: string): PresentValues {
  try {
    return [...scalarLeaves(parseConfigFile(config_id, content).data).take(maxValues)];
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return [];
    throw error;
  }
}

const maxValues = 1000;

/** Return the flags of a command that have one value. Those that a configuration fills, as `{lr}`, are left out. */
export function valuesOfCommand(command: string): PresentValues {
  const values = new Map<string, Scalar>();
  for (const { name, value } of commandArguments(commandWords(command)))
    if (!/[{$]|\s/.test(value ?? '')) values.set(name, value === null ? true : scalarLike(value, null));
  return [...values];
}
