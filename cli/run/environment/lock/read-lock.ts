import { parse } from 'smol-toml';
import * as z from 'zod/mini';
import { CliError, exitCodes } from '../../../cli-error.ts';
import { type LockedPackage, normalName, notInstallable, requirementLines } from './locked-package.ts';
import { poetryPackages } from './poetry.ts';
import { uvPackages } from './uv-lock.ts';

/**
 * Convert a lock file to requirement lines.
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
      `${file} is older than pyproject.toml: it lacks ${missing.join(', ')}.\nUpdate it, for example with "uv lock" or "poetry lock", or delete ${file}.`,
      exitCodes.usage,
    );
  return requirementLines(packages);
}

/** Name and requirements of a `pyproject.toml`. */
interface PythonProject {
  name: string | undefined;
  /** Names of required packages. */
  required: readonly string[];
}

/** Readers of the supported lock files, the standard one first. */
const locks: Readonly<Record<string, ReadLock>> = {
  'pylock.toml': (content) => pylockPackages(parse(content)),
  'uv.lock': (content, { name }) => uvPackages(parse(content), name),
  'poetry.lock': (content, { required }) => poetryPackages(parse(content), required),
  'pdm.lock': (content) => pdmPackages(parse(content)),
  'Pipfile.lock': (content) => pipfilePackages(JSON.parse(content)),
};

type ReadLock = (content: string, project: PythonProject) => LockedPackage[];

/** Return the packages of a `pylock.toml` (PEP 751), without groups and extras. */
function pylockPackages(value: unknown): LockedPackage[] {
  return Pylock.parse(value).packages.flatMap((one): LockedPackage[] => {
    const { name, version, marker, index, vcs, directory, archive } = one;
    // Skip the project itself, because its files are the source.
    if (isOptional(marker) || directory?.path === '.') return [];
    const markers = marker === undefined ? [] : [marker];
    if (archive?.url !== undefined) return [{ name, version: version ?? '', url: archive.url, markers }];
    const elsewhere = vcs?.url ?? vcs?.path ?? directory?.path ?? archive?.path;
    if (elsewhere !== undefined || version === undefined)
      throw notInstallable('pylock.toml', name, elsewhere ?? 'a source without a version');
    return [{ name, version, ...(index !== undefined && { index }), markers }];
  });
}

const Pylock = z.object({
  packages: z.array(
    z.object({
      name: z.string(),
      version: z.optional(z.string()),
      marker: z.optional(z.string()),
      index: z.optional(z.string()),
      vcs: z.optional(z.object({ url: z.optional(z.string()), path: z.optional(z.string()) })),
      directory: z.optional(z.object({ path: z.string() })),
      archive: z.optional(z.object({ url: z.optional(z.string()), path: z.optional(z.string()) })),
    }),
  ),
});

/** Return whether a marker selects a group or an extra. These are not installed by default. */
const isOptional = (marker: string | undefined): boolean =>
  /\b(?:dependency_groups|extras)\b/.test(marker ?? '');

/** Return the packages of a `pdm.lock` that its project needs, without development groups. */
function pdmPackages(value: unknown): LockedPackage[] {
  return (PdmLock.parse(value).package ?? []).flatMap((one) => {
    const { name, version, groups, marker, extras, git, path, url } = one;
    // Skip entries of extras: the package has an entry of its own.
    if (groups?.includes('default') !== true || extras !== undefined) return [];
    const elsewhere = git ?? path;
    if (elsewhere !== undefined) throw notInstallable('pdm.lock', name, elsewhere);
    const markers = marker === undefined ? [] : [marker];
    return [{ name, version, ...(url !== undefined && { url }), markers }];
  });
}

const PdmLock = z.object({
  package: z.optional(
    z.array(
      z.object({
        name: z.string(),
        version: z.string(),
        groups: z.optional(z.array(z.string())),
        marker: z.optional(z.string()),
        extras: z.optional(z.array(z.string())),
        git: z.optional(z.string()),
        path: z.optional(z.string()),
        url: z.optional(z.string()),
      }),
    ),
  ),
});

/** Return the packages of a `Pipfile.lock`, without development packages. */
function pipfilePackages(value: unknown): LockedPackage[] {
  const { _meta, default: packages } = PipfileLock.parse(value);
  const indexes = new Map(_meta.sources?.map(({ name, url }) => [name, url]));
  return Object.entries(packages).map(([name, { version, markers, index, git, path, file }]) => {
    const exact = version?.startsWith('==') === true ? version.slice(2) : undefined;
    if (exact === undefined) throw notInstallable('Pipfile.lock', name, git ?? path ?? file ?? 'no version');
    const url = index === undefined ? undefined : indexes.get(index);
    const place = url === undefined ? {} : { index: url };
    return { name, version: exact, ...place, markers: markers === undefined ? [] : [markers] };
  });
}

const PipfileLock = z.object({
  _meta: z.object({ sources: z.optional(z.array(z.object({ name: z.string(), url: z.string() }))) }),
  default: z.record(
    z.string(),
    z.object({
      version: z.optional(z.string()),
      markers: z.optional(z.string()),
      index: z.optional(z.string()),
      git: z.optional(z.string()),
      path: z.optional(z.string()),
      file: z.optional(z.string()),
    }),
  ),
});

export const lockFiles: readonly string[] = Object.keys(locks);
