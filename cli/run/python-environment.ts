import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { CliError, exitCodes } from '../cli-error.ts';
import type { ChosenEnvironment } from './chosen-environment.ts';
import { PoetryDependencies, poetryRequirements } from './lock/poetry-requirements.ts';
import { lockFiles, readLock } from './lock/read-lock.ts';

const Manifest = z.object({
  project: z.optional(
    z.object({ name: z.optional(z.string()), dependencies: z.optional(z.array(z.string())) }),
  ),
  tool: z.optional(
    z.object({ poetry: z.optional(z.object({ dependencies: z.optional(PoetryDependencies) })) }),
  ),
});

interface PythonManifest {
  name: string | undefined;
  /** Requirement lines; undefined where the file lists none. */
  requirements: string[] | undefined;
}

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

/** Names of requirements that hold everywhere: one with a marker need not be locked. */
const namesOf = (requirements: readonly string[]): string[] =>
  requirements.flatMap((line) => (line.includes(';') ? [] : (/^[A-Za-z0-9._-]+/.exec(line.trim()) ?? [])));

/** The file of requirements that a lock file becomes, as part of the source. */
export const lockedRequirements = 'mps-requirements.txt';

/**
 * The environment of a folder with a Python program; undefined where nothing says what it needs. A lock file becomes
 * requirements of exact versions: pip reads the locks of no other tool.
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
