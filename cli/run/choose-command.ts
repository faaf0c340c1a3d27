import { parseCommand } from '../../shared/command/parse-command.ts';
import { quoteCommand } from '../../shared/command/quote-command.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { ChosenEnvironment } from './environment/chosen-environment.ts';
import type { ProjectCommand } from './environment/mlproject.ts';
import { isNotebook, notebookCommand, onlyNotebook } from './notebook.ts';

/**
 * Choose the command to run: the words after `--`, else mps.yaml, else the project's last command, else that of
 * `MLproject`, else the usual program of the folder. With the last command, a second "mps run" runs the same.
 *
 * @throws CliError if none of these names a command
 */
export function chooseCommand(
  files: ReadonlySet<string>,
  env_type: ChosenEnvironment['env_type'],
  givenCommands: GivenCommands,
): string {
  if (givenCommands.words.length > 0)
    return isNotebook(givenCommands.words[0])
      ? notebookCommand(givenCommands.words)
      : quoteCommand(givenCommands.words);
  const said = givenCommands.command ?? commandBefore(givenCommands);
  if (said !== undefined) return isNotebook(said.split(/\s/)[0]) ? notebookCommand(parseCommand(said)) : said;
  const program = usualProgram(files);
  if (program !== undefined) return usualCommand(program, env_type);
  throw new CliError(
    `This folder has no program that mps knows (${usualPrograms.join(', ')} or one notebook).\nTell mps what to run: ${examplesOf(files).join(', or ')}`,
    exitCodes.usage,
  );
}

/** Return commands for at most three programs of the folder, those with the names of a training first. */
function examplesOf(files: ReadonlySet<string>): string[] {
  const programs = [...files].filter(
    (path) =>
      /^[^/]+\.(?:py|ipynb)$/.test(path) && !/^(?:setup|conftest|__init__|test_.*|.*_test)\.py$/.test(path),
  );
  const rank = (path: string) => (/train|main|run|fit|demo/i.test(path) ? 0 : 1);
  const first = programs.sort((a, b) => rank(a) - rank(b)).slice(0, 3);
  if (first.length === 0) return ['mps run -- python train.py --epochs 5'];
  return first.map((path) => `mps run -- ${isNotebook(path) ? '' : 'python '}${quoteCommand([path])}`);
}

/** Return the project's last command, else that of `MLproject`. A value for one of its parameters asks for it anew. */
function commandBefore({ before, declared }: GivenCommands): string | undefined {
  if (declared === undefined) return before;
  if ('command' in declared) return declared.isGiven ? declared.command : (before ?? declared.command);
  if (before !== undefined) return before;
  throw new CliError(declared.fault, exitCodes.usage);
}

interface GivenCommands {
  /** Words after `--`. */
  words: readonly string[];
  /** The command of mps.yaml. */
  command: string | undefined;
  /** The last command of the project. */
  before: string | undefined;
  /** The command of `MLproject`. */
  declared?: ProjectCommand | undefined;
}

/** Return the Python program that a command runs: its first word that is one, as in `python train.py`. */
export const pythonProgram = (words: readonly string[]): string | undefined =>
  words.find((word) => word.endsWith('.py'))?.replace(/^\.\//, '');

/** Return the program that a folder runs without further words; undefined if it has none of the usual names. */
export const usualProgram = (files: ReadonlySet<string>): string | undefined =>
  usualPrograms.find((name) => files.has(name)) ?? onlyNotebook(files);

const usualPrograms = [
  ...['train.py', 'main.py', 'train.js', 'train.mjs', 'train.ts', 'train.sh'],
  ...['train.ipynb', 'main.ipynb'],
];

function usualCommand(program: string, env_type: ChosenEnvironment['env_type']): string {
  if (isNotebook(program)) return notebookCommand([program]);
  if (program.endsWith('.py')) return `${env_type === 'python' ? 'python' : 'python3'} ${program}`;
  return program.endsWith('.sh') ? `sh ${program}` : `node ${program}`;
}
