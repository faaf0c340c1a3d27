import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import { type Override, overrideConfig } from './override-config.ts';

/** Choose the configuration: the named one, else the usual one of the folder, else one made of the flags. */
export async function chooseConfig(
  folder: string,
  files: ReadonlySet<string>,
  named: string | undefined,
  overrides: readonly Override[],
): Promise<ChosenConfig> {
  const path = named ?? usualNames.find((name) => files.has(name));
  if (path === undefined)
    return { config_id: ownConfigName, content: overrideConfig(ownConfigName, '{}\n', overrides) };
  const config_id = basename(path);
  const content = await readFile(resolve(folder, path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new CliError(`There is no configuration ${path} in ${folder}.`, exitCodes.usage);
  });
  return { config_id, content: overrideConfig(config_id, content, overrides) };
}

export interface ChosenConfig {
  config_id: string;
  content: string;
}

const endings = ['yaml', 'yml', 'json', 'toml'];

const usualNames = ['train', 'config'].flatMap((name) => endings.map((ending) => `${name}.${ending}`));

/** File name of a configuration that holds only the flags' values. */
export const ownConfigName = 'run.yaml';
