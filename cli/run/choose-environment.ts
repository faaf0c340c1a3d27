import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import type { ProjectFile } from '../../shared/project-file/project-file.ts';
import { CliError, exitCodes } from '../cli-error.ts';

export interface ChosenEnvironment {
  env_type: 'python' | 'node' | 'system' | 'docker';
  dependencies: string;
  /** Why it was chosen. */
  reason: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function fault(file: string, error: unknown): CliError {
  const text = error instanceof Error ? error.message.trim() : String(error);
  return new CliError(`${file} cannot be read: ${text}`, exitCodes.usage);
}

/** The requirements that a pyproject.toml lists by the standard (PEP 621); undefined where it has no such list. */
function pythonRequirements(content: string): string[] | undefined {
  let project: unknown;
  try {
    project = parse(content)['project'];
  } catch (error) {
    throw fault('pyproject.toml', error);
  }
  const listed = isObject(project) ? project['dependencies'] : undefined;
  return Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : undefined;
}

function nodePackages(content: string): string[] {
  let manifest: unknown;
  try {
    manifest = JSON.parse(content);
  } catch (error) {
    throw fault('package.json', error);
  }
  const listed = isObject(manifest) ? manifest['dependencies'] : undefined;
  if (!isObject(listed)) return [];
  return Object.entries(listed).map(([name, range]) => `${name}@${String(range)}`);
}

/** The environment of a folder: what mps.yaml says, or what its files of requirements show. */
export async function chooseEnvironment(
  folder: string,
  files: ReadonlySet<string>,
  { environment }: ProjectFile,
): Promise<ChosenEnvironment> {
  if (environment !== undefined) {
    const { type, dependencies = 'none' } = environment;
    return { env_type: type, dependencies, reason: 'mps.yaml says so' };
  }
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  if (files.has('requirements.txt'))
    return { env_type: 'python', dependencies: '-r requirements.txt', reason: 'requirements.txt' };
  if (files.has('pyproject.toml')) {
    const requirements = pythonRequirements(await read('pyproject.toml'));
    if (requirements !== undefined)
      return {
        env_type: 'python',
        dependencies: requirements.join('\n') || 'none',
        reason: 'pyproject.toml',
      };
  }
  if (files.has('package.json')) {
    const packages = nodePackages(await read('package.json'));
    return { env_type: 'node', dependencies: packages.join('\n') || 'none', reason: 'package.json' };
  }
  return {
    env_type: 'system',
    dependencies: 'none',
    reason: 'no requirements.txt, pyproject.toml or package.json',
  };
}
