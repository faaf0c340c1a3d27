import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { ProjectFile } from '../../../shared/config/project-file.ts';
import { resolveDependencies } from '../../../shared/runner/environment/dependencies/resolved-dependencies.ts';
import { EnvironmentError } from '../../../shared/runner/environment/environment-error.ts';
import {
  type PythonCondition,
  pythonFault,
} from '../../../shared/runner/environment/install/python-version.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { pythonProgram } from '../choose-command.ts';
import { pathsBelow } from '../source/source-root.ts';
import { chooseEnvironment } from './choose-environment.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';
import { movedEnvironment } from './moved-environment.ts';

/**
 * Choose the environment of a folder, else that of the nearest folder of the source above it, and find by the service's
 * own rules what it would refuse in the files. So nothing is sent for an error that can be seen here.
 *
 * @param paths of the source's files
 * @param words of the command; its Python program may declare requirements itself
 * @param deployment asks the service what it has, only if the folder limits Python or names an index
 * @throws CliError naming the file, its line and what is allowed
 */
export async function checkedEnvironment(
  source: { root: string; sub: string },
  paths: readonly string[],
  projectFile: ProjectFile,
  words: readonly string[],
  deployment: () => Promise<Deployment> = async () => ({}),
): Promise<ChosenEnvironment> {
  let chosen: ChosenEnvironment | undefined;
  try {
    chosen = await environmentIn(source, paths, projectFile, pythonProgram(words));
    // A converted lock file is in no file of the folder, and consists of lines that this command has made.
    const { env_type, added } = chosen;
    const isRead = env_type === 'python' && added === undefined;
    const found = isRead ? await resolveDependencies(chosen, source.root, 'any') : undefined;
    const isIndexed =
      found?.dependencies.some(({ kind }) => kind === 'option') ?? added?.content.startsWith('--');
    if (isIndexed === true) await requireIndexes(chosen, source.root, await deployment());
    const knownPythons = async () => (await deployment()).pythons;
    const fault = await unmetCondition(chosen, found?.interpreter ?? [], knownPythons);
    if (fault !== undefined) throw new CliError(fault, exitCodes.usage);
    return chosen;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new CliError(await placedMessage(error.message, source, chosen), exitCodes.usage);
  }
}

/** What trainings of the service can have. */
interface Deployment {
  pythons?: readonly string[] | undefined;
  /** Undefined if the service does not say. */
  indexes?: readonly string[] | undefined;
}

/** @throws EnvironmentError for an index that the service does not allow */
async function requireIndexes(
  { added, ...chosen }: ChosenEnvironment,
  root: string,
  { indexes }: Deployment,
): Promise<void> {
  if (indexes === undefined) return;
  const dependencies = added?.content ?? chosen.dependencies;
  const own =
    added === undefined
      ? dependencies
      : dependencies
          .split('\n')
          .filter((line) => line.startsWith('--'))
          .join('\n');
  await resolveDependencies({ env_type: 'python', dependencies: own }, root, indexes);
}

/** Name the file and the line of a requirement that was refused as one of this command's own text. */
async function placedMessage(
  message: string,
  { root, sub }: { root: string; sub: string },
  chosen: ChosenEnvironment | undefined,
): Promise<string> {
  const [, faults] = /^dependencies: ((?:line \d+: )[\s\S]*)$/.exec(message) ?? [];
  const file = chosen?.reason.split(/,| of /)[0];
  if (faults === undefined || chosen === undefined || file === undefined) return message;
  const content = await readFile(join(root, sub, file), 'utf8').catch(() => undefined);
  if (content === undefined) return message;
  const written = content.split('\n');
  const lines = chosen.dependencies.split('\n');
  const placed = faults.replaceAll(/(^|; )line (\d+): /g, (_, before: string, line: string) => {
    const text = lines[Number(line) - 1]?.trim() ?? '';
    const at = text === '' ? -1 : written.findIndex((one) => one.includes(text));
    return at === -1 ? before : `${before}line ${at + 1}: `;
  });
  return `${file}: ${placed}`;
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
  for (const above of foldersAbove(sub)) {
    const files = new Set(pathsBelow(paths, above));
    const chosen = await chooseEnvironment(join(root, above), files, projectFile, undefined);
    if (chosen.env_type === 'system') continue;
    const reason = `${chosen.reason} of ${posix.relative(sub, above || '.')}`;
    return movedEnvironment({ ...chosen, reason }, above);
  }
  return own;
}

/** Return the folders of the source that contain a folder, the nearest first: `['a', '']` for `a/b`. */
function foldersAbove(sub: string): string[] {
  const names = sub.split('/');
  return names.map((_, index) => names.slice(0, names.length - 1 - index).join('/'));
}

/** Return why no Python of the service can run the folder; undefined if one can. */
async function unmetCondition(
  { python }: ChosenEnvironment,
  found: readonly PythonCondition[],
  knownPythons: () => Promise<readonly string[] | undefined>,
): Promise<string | undefined> {
  // The text of the dependencies is this command's own; its condition stands in a file of the folder.
  const others = found.filter(({ versions }) => versions !== python?.versions);
  const conditions = python === undefined ? others : [python, ...others];
  if (conditions.length === 0) return undefined;
  return pythonFault(conditions) ?? pythonFault(conditions, await knownPythons());
}
