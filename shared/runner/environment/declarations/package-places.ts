import { posix } from 'node:path';
import * as z from 'zod/mini';
import { gitAdvice, normalName } from '../dependencies/python-requirements.ts';
import { EnvironmentError } from '../environment-error.ts';

/**
 * Where a `pyproject.toml` of uv, poetry, pdm or pixi takes packages from, other than from the usual index. Looked up
 * there by its name alone, such a package could be a stranger's.
 */
export interface PackagePlaces {
  /** By normal name. */
  packages: ReadonlyMap<string, PackagePlace>;
  /** URLs of indexes for all packages. */
  indexes: readonly string[];
  /** The index in the place of PyPI. */
  defaultIndex: string | undefined;
}

export interface PackagePlace {
  /** Relative to the folder of the manifest. */
  path?: string;
  /** Folder of the manifest in the source, if it is not that of the requirement. */
  base?: string;
  url?: string;
  git?: string;
  /** Whether it is a member of uv's workspace. */
  isMember?: boolean;
  /** URL of its index. */
  index?: string;
}

const Place = z.object({
  path: z.optional(z.string()),
  file: z.optional(z.string()),
  url: z.optional(z.string()),
  git: z.optional(z.string()),
  workspace: z.optional(z.boolean()),
  index: z.optional(z.string()),
  source: z.optional(z.string()),
  extra: z.optional(z.string()),
  group: z.optional(z.string()),
});

/** A table of packages; a package may have several places, one for each marker, or a version alone. */
const Places = z.record(z.string(), z.union([z.string(), z.array(z.union([z.string(), Place])), Place]));

const Index = z.object({
  name: z.optional(z.string()),
  url: z.optional(z.string()),
  default: z.optional(z.boolean()),
  explicit: z.optional(z.boolean()),
  priority: z.optional(z.string()),
});

/** The tables of `[tool]` that name places. */
export const PlacedTools = {
  uv: z.optional(
    z.object({
      sources: z.optional(Places),
      index: z.optional(z.array(Index)),
      'index-url': z.optional(z.string()),
      'extra-index-url': z.optional(z.array(z.string())),
      workspace: z.optional(
        z.object({ members: z.optional(z.array(z.string())), exclude: z.optional(z.array(z.string())) }),
      ),
    }),
  ),
  pdm: z.optional(z.object({ source: z.optional(z.array(Index)) })),
  pixi: z.optional(
    z.object({
      dependencies: z.optional(z.record(z.string(), z.unknown())),
      'pypi-dependencies': z.optional(Places),
    }),
  ),
};

type Tools = {
  [name in keyof typeof PlacedTools]?: z.infer<(typeof PlacedTools)[name]>;
} & {
  poetry?: { dependencies?: unknown; source?: z.infer<typeof Index>[] | undefined } | undefined;
};

export const PoetrySources = z.optional(z.array(Index));

/** Collect the places of a manifest. */
export function packagePlaces(tool: Tools = {}): PackagePlaces {
  const indexes = [...(tool.uv?.index ?? []), ...(tool.poetry?.source ?? []), ...(tool.pdm?.source ?? [])];
  const urls = new Map(indexes.map(({ name, url }) => [name, url]));
  const packages = new Map<string, PackagePlace>();
  for (const table of [tool.uv?.sources, tool.poetry?.dependencies, tool.pixi?.['pypi-dependencies']]) {
    for (const [name, given] of Object.entries(table ?? {})) {
      const all = [given].flat().flatMap((one) => Place.safeParse(one).data ?? []);
      // A place of an extra or a group is not that of the plain requirement.
      const found = all.find(({ extra, group }) => extra === undefined && group === undefined);
      const place = found && placeOf(found, urls);
      if (place !== undefined) packages.set(normalName(name), place);
    }
  }
  const isDefault = (one: z.infer<typeof Index>) =>
    one.default === true || one.priority === 'default' || one.name === 'pypi';
  const isForAll = (one: z.infer<typeof Index>) =>
    !isDefault(one) && one.explicit !== true && one.priority !== 'explicit' && one.name !== 'PyPI';
  const urlsOf = (some: typeof indexes) => some.flatMap(({ url }) => url ?? []);
  return {
    packages,
    indexes: [...urlsOf(indexes.filter(isForAll)), ...(tool.uv?.['extra-index-url'] ?? [])],
    defaultIndex: urlsOf(indexes.filter(isDefault))[0] ?? tool.uv?.['index-url'],
  };
}

function placeOf(
  { path, file, url, git, workspace, index, source }: z.infer<typeof Place>,
  urls: ReadonlyMap<string | undefined, string | undefined>,
): PackagePlace | undefined {
  if (workspace === true) return { isMember: true };
  const local = path ?? file;
  if (local !== undefined) return { path: local };
  if (git !== undefined) return { git };
  if (url !== undefined) return { url };
  const named = index ?? source;
  if (named === undefined || /^pypi$/i.test(named)) return undefined;
  const found = /^https?:/.test(named) ? named : urls.get(named);
  if (found === undefined) throw refused(`pyproject.toml: there is no index ${JSON.stringify(named)}`);
  return { index: found };
}

/**
 * Write requirement lines with the places of their packages: members and folders as `-e ./folder`, files and URLs as
 * direct requirements, indexes as options.
 *
 * @param folder of the manifest in the source
 * @param memberOf finds the folder of a member of uv's workspace by its name
 * @throws EnvironmentError for a place that a job cannot reach
 */
export async function placedRequirements(
  lines: readonly string[],
  { packages, indexes, defaultIndex }: PackagePlaces,
  folder: string,
  memberOf: (name: string) => Promise<string | undefined>,
): Promise<string[]> {
  const options = new Set(indexes.map((url) => `--extra-index-url ${url}`));
  const placed: string[] = [];
  for (const line of lines) {
    const [, name = '', extras = '', rest = ''] =
      /^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(\[[^\]]*\])?(.*)$/.exec(line) ?? [];
    const place = packages.get(normalName(name));
    if (place === undefined || /^\s*@/.test(rest)) {
      placed.push(line);
      continue;
    }
    const marker = /\s*;.*$/.exec(rest)?.[0] ?? '';
    if (place.git !== undefined) throw refused(`pyproject.toml: ${name} is at ${place.git}: ${gitAdvice}`);
    if (place.index !== undefined) options.add(`--extra-index-url ${place.index}`);
    if (place.url !== undefined) placed.push(`${name}${extras} @ ${place.url}${marker}`);
    else if (place.isMember === true) {
      const found = await memberOf(normalName(name));
      if (found === undefined)
        throw refused(
          `pyproject.toml: ${name} is a member of a uv workspace, and the source has no such member; mps run --root .. sends the folder of the workspace`,
        );
      placed.push(`-e ${written(found)}${extras}`);
    } else if (place.path !== undefined) {
      const path = posix.normalize(posix.join(place.base ?? folder, place.path));
      if (place.path.startsWith('/') || path === '..' || path.startsWith('../'))
        throw refused(
          `pyproject.toml: ${name} is at ${place.path}, out of the source; mps run --root .. sends a folder above`,
        );
      const isFile = /\.(?:whl|tar\.gz|zip)$/.test(path);
      placed.push(isFile ? `${written(path)}${extras}${marker}` : `-e ${written(path)}${extras}`);
    } else placed.push(line);
  }
  const first = defaultIndex === undefined ? [] : [`--index-url ${defaultIndex}`];
  return [...first, ...options, ...placed];
}

const written = (path: string): string => (path === '.' ? '.' : `./${path.replace(/\/$/, '')}`);

const refused = (message: string): EnvironmentError => new EnvironmentError('bad-dependencies', message);
