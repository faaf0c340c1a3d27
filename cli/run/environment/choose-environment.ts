import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectFile } from '../../../shared/config/project-file.ts';
import { readPythonCondition } from '../../../shared/runner/environment/declarations/python-condition.ts';
import { namesPackages } from '../../../shared/runner/environment/declarations/setup-files.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';
import { pythonEnvironment, unreadDeclarations } from './python-environment.ts';

/** Choose the environment of a folder from mps.yaml, else from its requirement files. */
export async function chooseEnvironment(
  folder: string,
  files: ReadonlySet<string>,
  { environment, python }: ProjectFile,
  program?: string,
): Promise<ChosenEnvironment> {
  const chosen = await chooseDeclared(folder, files, environment, program);
  if (python === undefined) return chosen;
  // Nobody says that a folder without requirements must not have an environment of its own.
  const isFree = chosen.env_type === 'system' && environment === undefined;
  if (chosen.env_type !== 'python' && !isFree)
    throw new CliError(
      `mps.yaml: "python: ${python}" needs an environment of the type python, and this folder's is ${chosen.env_type} (${chosen.reason}).`,
      exitCodes.usage,
    );
  const asked = /^\d/.test(python) ? `==${python}${/\.\d+\./.test(python) ? '' : '.*'}` : python;
  const condition = readPythonCondition(asked, 'python of mps.yaml');
  const lines = chosen.dependencies.split('\n').filter((line) => !/^(?:python[=<>!~]|none$)/.test(line));
  return {
    ...chosen,
    env_type: 'python',
    python: condition,
    dependencies: [...lines, `python${condition.versions}`].join('\n'),
  };
}

async function chooseDeclared(
  folder: string,
  files: ReadonlySet<string>,
  environment: ProjectFile['environment'],
  program: string | undefined,
): Promise<ChosenEnvironment> {
  if (environment !== undefined) {
    const { type, dependencies = 'none' } = environment;
    return { env_type: type, dependencies, reason: 'mps.yaml says so' };
  }
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  const python = await pythonEnvironment(files, read, program);
  if (python !== undefined) return python;
  if (files.has('package.json')) {
    const lock = files.has('package-lock.json') ? 'package-lock.json' : undefined;
    const packages = nodePackages(await read('package.json'), lock && (await read(lock)));
    const dependencies = packages.join('\n') || 'none';
    return { env_type: 'node', dependencies, reason: lock ?? 'package.json' };
  }
  const isBlank = files.has('setup.py') && !namesPackages(await read('setup.py'));
  const unread = unreadDeclarations(files).filter((name) => !isBlank || name !== 'setup.py');
  const said = [
    ...(unread.length === 0 ? [] : [`Seen and not read: ${unread.join(', ')}.`]),
    ...(isBlank ? ['setup.py names no packages.'] : []),
  ];
  return {
    env_type: 'system',
    dependencies: 'none',
    reason: 'no file of requirements',
    notes: said.length === 0 ? [] : [[...said, unreadAdvice].join(' ')],
  };
}

const unreadAdvice = 'List what the program needs in requirements.txt, or in "environment:" of mps.yaml.';

/** Return the dependencies of a package.json, in the versions of its lock file. */
function nodePackages(manifest: string, lock: string | undefined): string[] {
  const listed = parseObject('package.json', manifest)['dependencies'];
  if (!isObject(listed)) return [];
  const locked = lock === undefined ? {} : parseObject('package-lock.json', lock)['packages'];
  return Object.entries(listed).map(([name, range]) => {
    const found = isObject(locked) ? locked[`node_modules/${name}`] : undefined;
    const version = isObject(found) && found['link'] !== true ? found['version'] : undefined;
    return `${name}@${String(version ?? range)}`;
  });
}

function parseObject(file: string, content: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) ? value : {};
  } catch (error) {
    throw fault(file, error);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fault(file: string, error: unknown): CliError {
  const text = error instanceof Error ? error.message.trim() : String(error);
  return new CliError(`${file} cannot be read: ${text}`, exitCodes.usage);
}
