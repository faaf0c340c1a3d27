import { quoteCommand } from '../../shared/command/quote-command.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { ChosenEnvironment } from './choose-environment.ts';

/**
 * Choose the command to run: the words after `--`, else mps.yaml, else the project's last command, else the usual
 * program of the folder. With the last command, a second "mps run" runs the same.
 *
 * @throws CliError if none of these names a command
 */
export function chooseCommand(
  files: ReadonlySet<string>,
  env_type: ChosenEnvironment['env_type'],
  given: { words: readonly string[]; command: string | undefined; before: string | undefined },
): string {
  if (given.words.length > 0) return quoteCommand(given.words);
  const said = given.command ?? given.before;
  if (said !== undefined) return said;
  const program = usualPrograms.find((name) => files.has(name));
  if (program !== undefined) return usualCommand(program, env_type);
  throw new CliError(
    `This folder has no program that mps knows (${usualPrograms.join(', ')}).\nTell mps what to run: mps run -- python train.py --epochs 5`,
    exitCodes.usage,
  );
}

const usualPrograms = ['train.py', 'main.py', 'train.js', 'train.mjs', 'train.sh'];

function usualCommand(program: string, env_type: ChosenEnvironment['env_type']): string {
  if (program.endsWith('.py')) return `${env_type === 'python' ? 'python' : 'python3'} ${program}`;
  return program.endsWith('.sh') ? `sh ${program}` : `node ${program}`;
}
