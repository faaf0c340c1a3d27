import { join, posix } from 'node:path';
import type { ProjectFile } from '../../../shared/config/project-file.ts';
import { resolveDependencies } from '../../../shared/runner/environment/dependencies/resolved-dependencies.ts';
import { EnvironmentError } from '../../../shared/runner/environment/environment-error.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { pythonProgram } from '../choose-command.ts';
import { pathsBelow } from '../source-root.ts';
import { chooseEnvironment } from './choose-environment.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';
import { movedEnvironment } from './moved-environment.ts';

/**
 * Choose the environment of a folder, else that of the source that contains it, and find by the service's own rules what it would refuse in the files. So nothing
 * is sent for an error that can be seen here.
 *
 * @param paths of the source's files
 * @param words of the command; its Python program may declare requirements itself
 * @throws CliError naming the file, its line and what is allowed
 */
export async function checkedEnvironment(
  source: { root: string; sub: string },
  paths: readonly string[],
  projectFile: ProjectFile,
  words: readonly string[],
): Promise<ChosenEnvironment> {
  try {
    const chosen = await environmentIn(source, paths, projectFile, pythonProgram(words));
    // A converted lock file is in no file of the folder, and consists of lines that this command has made.
    if (chosen.env_type === 'python' && chosen.added === undefined)
      await resolveDependencies(chosen, source.root, 'any');
    return chosen;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new CliError(error.message, exitCodes.usage);
  }
}

async function environmentIn(
  { root, sub }: { root: string; sub: string },
  paths: readonly string[],
  projectFile: ProjectFile,
  program: string | undefined,
): Promise<ChosenEnvironment> {
  const own = await chooseEnvironment(join(root, sub), new Set(pathsBelow(paths, sub)), projectFile, program);
  const isDeclared = own.env_type !== 'system' || projectFile.environment !== undefined;
  if (sub === '' || isDeclared) return movedEnvironment(own, sub);
  const ofRoot = await chooseEnvironment(root, new Set(paths), projectFile, undefined);
  const where = `${ofRoot.reason} of ${posix.relative(sub, '.')}`;
  return ofRoot.env_type === 'system' ? own : { ...ofRoot, reason: where };
}
