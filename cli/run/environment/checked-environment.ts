import type { ProjectFile } from '../../../shared/config/project-file.ts';
import { resolveDependencies } from '../../../shared/runner/environment/dependencies/resolved-dependencies.ts';
import { EnvironmentError } from '../../../shared/runner/environment/environment-error.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { pythonProgram } from '../choose-command.ts';
import { chooseEnvironment } from './choose-environment.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';

/**
 * Choose the environment of a folder, and find by the service's own rules what it would refuse in the files. So nothing
 * is sent for an error that can be seen here.
 *
 * @param words of the command; its Python program may declare requirements itself
 * @throws CliError naming the file, its line and what is allowed
 */
export async function checkedEnvironment(
  folder: string,
  files: ReadonlySet<string>,
  projectFile: ProjectFile,
  words: readonly string[],
): Promise<ChosenEnvironment> {
  try {
    const chosen = await chooseEnvironment(folder, files, projectFile, pythonProgram(words));
    // A converted lock file is in no file of the folder, and consists of lines that this command has made.
    if (chosen.env_type === 'python' && chosen.added === undefined)
      await resolveDependencies(chosen, folder, 'any');
    return chosen;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new CliError(error.message, exitCodes.usage);
  }
}
