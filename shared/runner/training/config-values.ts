import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseCommand } from '../../command/parse-command.ts';
import { type ConfigValues, configPlaceholders } from '../../command/placeholders.ts';
import { parseConfigFile } from '../../config/parse-config-file.ts';
import { configParams } from '../../experiments/config-params.ts';

/**
 * Return the configuration's values for a command; none if the command names none. The request for the training has
 * parsed the same file.
 */
export async function configValues(command: string, configPath: string): Promise<ConfigValues> {
  if (parseCommand(command).every((word) => configPlaceholders(word).length === 0)) return {};
  const { data } = parseConfigFile(basename(configPath), await readFile(configPath, 'utf8'));
  return configParams(data);
}
