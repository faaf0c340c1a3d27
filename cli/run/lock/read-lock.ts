import { parse } from 'smol-toml';
import { CliError, exitCodes } from '../../cli-error.ts';
import { type LockedPackage, normalName, requirementLines } from './locked-package.ts';
import { pdmPackages } from './pdm-lock.ts';
import { pipfilePackages } from './pipfile-lock.ts';
import { poetryPackages } from './poetry-lock.ts';
import { pylockPackages } from './pylock.ts';
import { uvPackages } from './uv-lock.ts';

/** What a `pyproject.toml` says of itself. */
export interface PythonProject {
  name: string | undefined;
  /** Names of the packages that it requires. */
  required: readonly string[];
}

type ReadLock = (content: string, project: PythonProject) => LockedPackage[];

/** Lock files that are known, the standard one first. */
const locks: Readonly<Record<string, ReadLock>> = {
  'pylock.toml': (content) => pylockPackages(parse(content)),
  'uv.lock': (content, { name }) => uvPackages(parse(content), name),
  'poetry.lock': (content, { required }) => poetryPackages(parse(content), required),
  'pdm.lock': (content) => pdmPackages(parse(content)),
  'Pipfile.lock': (content) => pipfilePackages(JSON.parse(content)),
};
export const lockFiles: readonly string[] = Object.keys(locks);

/**
 * Requirement lines of a lock file.
 *
 * @throws CliError for a lock that cannot be read or is older than its project
 */
export function readLock(file: string, content: string, project: PythonProject): string {
  let packages: LockedPackage[];
  try {
    packages = locks[file]?.(content, project) ?? [];
  } catch (error) {
    if (error instanceof CliError) throw error;
    const text =
      error instanceof SyntaxError || error instanceof TypeError ? `: ${error.message.trim()}` : '';
    throw new CliError(`${file} cannot be read as a lock file${text}.`, exitCodes.usage);
  }
  const locked = new Set(packages.map(({ name }) => normalName(name)));
  const missing = project.required.filter((name) => !locked.has(normalName(name)));
  if (missing.length > 0)
    throw new CliError(
      `${file} is older than pyproject.toml: it lacks ${missing.join(', ')}.\nLock again, such as with "uv lock" or "poetry lock", or delete ${file}.`,
      exitCodes.usage,
    );
  return requirementLines(packages);
}
