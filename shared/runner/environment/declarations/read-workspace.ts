import { readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { wildcards } from '../../../core/text/wildcards.ts';
import { normalName } from '../dependencies/python-requirements.ts';
import type { PackagePlaces } from './package-places.ts';
import { readPyproject } from './pyproject.ts';

/**
 * Read the uv workspace that contains a folder. Its places are those of its members, too.
 *
 * @param source absolute folder of the source
 * @param folder in the source, `.` for the source itself
 * @param read reads a file of the source; undefined if there is none
 */
export async function readWorkspace(
  source: string,
  folder: string,
  read: (path: string) => Promise<string | undefined>,
): Promise<Workspace> {
  const manifestOf = async (path: string) => {
    const text = await read(posix.join(path, 'pyproject.toml'));
    return text === undefined ? undefined : readPyproject(text);
  };
  for (let above = folder; ; above = posix.dirname(above)) {
    const manifest = await manifestOf(above);
    const { members } = manifest ?? {};
    if (manifest !== undefined && members !== undefined) {
      const base = above;
      return {
        packages: new Map(
          [...manifest.places.packages].map(([name, place]) => [name, { ...place, base }] as const),
        ),
        async memberOf(name) {
          for (const one of [base, ...(await expanded(source, base, members))]) {
            const found = (await manifestOf(one))?.name;
            if (found !== undefined && normalName(found) === name) return one;
          }
          return undefined;
        },
      };
    }
    if (above === '.') return { packages: new Map(), memberOf: async () => undefined };
  }
}

export interface Workspace {
  packages: PackagePlaces['packages'];
  /** Return the folder of a member in the source by its normal name; undefined if the source has no such member. */
  memberOf(name: string): Promise<string | undefined>;
}

/** Members to read, and folders to look into for them. */
const maxMembers = 200;

/** Return the folders of patterns such as `packages/*`. Links are not followed. */
async function expanded(source: string, above: string, patterns: readonly string[]): Promise<string[]> {
  const all = new Set<string>();
  for (const pattern of patterns) {
    let places = [above];
    for (const part of posix.normalize(pattern).split('/').filter(Boolean)) {
      const next: string[] = [];
      for (const place of places.slice(0, maxMembers)) next.push(...(await below(source, place, part)));
      places = next;
    }
    for (const place of places) all.add(place);
  }
  return [...all].slice(0, maxMembers);
}

async function below(source: string, place: string, part: string): Promise<string[]> {
  if (part === '..') return [];
  if (!part.includes('*') && !part.includes('?')) return [posix.join(place, part)];
  const pattern = wildcards(part);
  const entries = await readdir(join(source, place), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name))
    .map((entry) => posix.join(place, entry.name))
    .sort();
}
