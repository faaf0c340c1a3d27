import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import type { ProjectFile } from '../../shared/config/project-file.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { lockedRequirements } from './list-files.ts';
import { PoetryDependencies, poetryRequirements } from './lock/poetry.ts';
import { lockFiles, readLock } from './lock/read-lock.ts';
import type { AddedFile } from './pack-files.ts';

/** Choose the environment of a folder from mps.yaml, else from its requirement files. */
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
  const python = await pythonEnvironment(files, read);
  if (python !== undefined) return python;
  if (files.has('package.json')) {
    const lock = files.has('package-lock.json') ? 'package-lock.json' : undefined;
    const packages = nodePackages(await read('package.json'), lock && (await read(lock)));
    const dependencies = packages.join('\n') || 'none';
    return { env_type: 'node', dependencies, reason: lock ?? 'package.json' };
  }
  return {
    env_type: 'system',
    dependencies: 'none',
    reason: 'no requirements.txt, lock file, pyproject.toml or package.json',
  };
}

/** Environment for a folder. */
export interface ChosenEnvironment {
  env_type: 'python' | 'node' | 'system' | 'docker';
  dependencies: string;
  /** Reason for the choice. */
  reason: string;
  /** A file to add to the source. */
  added?: AddedFile;
}

/**
 * Choose the environment of a folder with a Python program; undefined if no file lists its requirements. Convert a
 * lock file to pinned requirements, because pip does not read the lock files of other tools.
 */
export async function pythonEnvironment(
  files: ReadonlySet<string>,
  read: (name: string) => Promise<string>,
): Promise<ChosenEnvironment | undefined> {
  const env_type = 'python';
  if (files.has('requirements.txt'))
    return { env_type, dependencies: '-r requirements.txt', reason: 'requirements.txt' };
  const manifest = files.has('pyproject.toml') ? readManifest(await read('pyproject.toml')) : undefined;
  const lock = lockFiles.find((name) => files.has(name));
  if (lock !== undefined) {
    const required = namesOf(manifest?.requirements ?? []);
    const content = readLock(lock, await read(lock), { name: manifest?.name, required });
    if (content === '') return { env_type, dependencies: 'none', reason: lock };
    const added = { path: lockedRequirements, content };
    return { env_type, dependencies: `-r ${lockedRequirements}`, reason: lock, added };
  }
  if (manifest?.requirements === undefined) return undefined;
  return { env_type, dependencies: manifest.requirements.join('\n') || 'none', reason: 'pyproject.toml' };
}

const Manifest = z.object({
  project: z.optional(
    z.object({ name: z.optional(z.string()), dependencies: z.optional(z.array(z.string())) }),
  ),
  tool: z.optional(
    z.object({ poetry: z.optional(z.object({ dependencies: z.optional(PoetryDependencies) })) }),
  ),
});

function readManifest(content: string): PythonManifest {
  try {
    const { project, tool } = Manifest.parse(parse(content));
    const poetry = tool?.poetry?.dependencies;
    const requirements = project?.dependencies ?? (poetry && poetryRequirements(poetry));
    return { name: project?.name, requirements };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const text = error instanceof Error ? error.message.trim() : String(error);
    throw new CliError(`pyproject.toml cannot be read: ${text}`, exitCodes.usage);
  }
}

interface PythonManifest {
  name: string | undefined;
  /** Requirement lines; undefined if the file lists none. */
  requirements: string[] | undefined;
}

/** Return the names of unconditional requirements. A requirement with an environment marker need not be locked. */
const namesOf = (requirements: readonly string[]): string[] =>
  requirements.flatMap((line) => (line.includes(';') ? [] : (/^[A-Za-z0-9._-]+/.exec(line.trim()) ?? [])));

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
