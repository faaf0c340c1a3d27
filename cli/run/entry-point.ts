import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';
import { entryPointCommand, entryPointNames, type ProjectCommand } from './environment/mlproject.ts';
import type { Override } from './override-config.ts';

/**
 * Choose between the command of `mps.yaml` and that of an entry point of `MLproject`. One that `--entry-point` names
 * comes before all others; without it, words after `--` and `mps.yaml` do.
 *
 * @param command of `mps.yaml`
 * @throws CliError if the named entry point is not there, or if words after `--` name another command
 */
export async function chooseEntryPoint(
  folder: string,
  files: ReadonlySet<string>,
  { words, entryPoint, overrides }: GivenEntryPoint,
  command: string | undefined,
): Promise<ChosenEntryPoint> {
  if (entryPoint === undefined && (words.length > 0 || command !== undefined)) return { command };
  const refused = (why: string) => new CliError(`--entry-point ${entryPoint}: ${why}`, exitCodes.usage);
  if (words.length > 0) throw refused('the command after -- is another one. Leave one of both out.');
  if (!files.has('MLproject')) {
    if (entryPoint === undefined) return { command };
    throw refused('this folder has no MLproject.');
  }
  const content = await readFile(join(folder, 'MLproject'), 'utf8');
  const names = entryPointNames(content);
  if (entryPoint !== undefined && !names.includes(entryPoint))
    throw refused(`MLproject has ${names.length === 0 ? 'none' : names.join(', ')}.`);
  const values = new Map(overrides.map(({ path, value }) => [path.join('.'), value]));
  const declared = entryPointCommand(content, values, entryPoint);
  const runs = declared === undefined ? 'has no entry point main' : `runs its entry point main`;
  const others = names.filter((name) => name !== 'main');
  const isAmbiguous = entryPoint === undefined && names.length > 1;
  const note = `MLproject ${runs}; --entry-point chooses another: ${others.join(', ')}.`;
  return { command: undefined, declared, ...(isAmbiguous && { note }) };
}

interface GivenEntryPoint {
  /** Words after `--`. */
  words: readonly string[];
  entryPoint?: string | undefined;
  overrides: readonly Override[];
}

interface ChosenEntryPoint {
  /** The command of `mps.yaml`, if it decides. */
  command: string | undefined;
  declared?: ProjectCommand | undefined;
  /** What else `MLproject` could run. */
  note?: string;
}
